# One flow over one bottleneck in ns-2 with TCP-Linux, to compare what TCP achieves. MIT licence, as the rest of
# lightlag.
#
#     ns one-flow.tcl ALGORITHM MEGABITS RTT_MS LOSS QUEUE WINDOW SECONDS SEED [TRACE_MS]
#
# Two nodes and a duplex link. The sender has a drop-tail queue of QUEUE packets. Data packets are lost independently
# with probability LOSS after they have crossed the link. WINDOW is the receive window in segments.
#
# Settings that differ from ns-2's own defaults: packets of 1500 bytes (1448 of payload, 52 of headers with timestamps),
# an initial window of 10, clock ticks of 1 ms, ACKs for every second segment or after 200 ms, ACKs of 64 bytes.
#
# Prints one JSON object as the last line: payload acknowledged in order, retransmitted segments, and the congestion
# window in segments, averaged over samples 10 ms apart. With TRACE_MS, the script also prints the window every TRACE_MS
# as lines "# time cwnd ssthresh srtt".

if {$argc < 8} {
    puts stderr "usage: ns one-flow.tcl ALGORITHM MEGABITS RTT_MS LOSS QUEUE WINDOW SECONDS SEED \[TRACE_MS\]"
    exit 1
}
lassign $argv algorithm megabits round_trip_ms loss queue window seconds seed trace_ms
set payload 1448
set headers 52

ns-random $seed
Agent/TCP set windowInit_ 10
Agent/TCP set tcpTick_ 0.001
Agent/TCP set packetSize_ $payload
Agent/TCP set tcpip_base_hdr_size_ $headers
Agent/TCP set window_ $window
Agent/TCP set minrto_ 0.2
Agent/TCPSink set packetSize_ 64
Agent/TCPSink/Sack1/DelAck set interval_ 200ms

set ns [new Simulator]
set client [$ns node]
set server [$ns node]
$ns duplex-link $client $server ${megabits}Mb [expr $round_trip_ms / 2.0]ms DropTail
$ns queue-limit $client $server $queue
$ns queue-limit $server $client 100000

if {$loss > 0} {
    # The first draws of small seeds are small numbers, so each would be a loss. Hybla divides by a round-trip time that
    # does not exist yet if the first segment is lost.
    set draws [new RNG]
    $draws seed $seed
    for {set i 0} {$i < 1000} {incr i} {
        $draws uniform 0 1
    }
    set uniform [new RandomVariable/Uniform]
    $uniform set min_ 0
    $uniform set max_ 1
    $uniform use-rng $draws
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $loss
    $errors ranvar $uniform
    $errors drop-target [new Agent/Null]
    $ns link-lossmodel $errors $client $server
}

set tcp [new Agent/TCP/Linux]
set sink [new Agent/TCPSink/Sack1/DelAck]
$sink set ts_echo_rfc1323_ true
$ns attach-agent $client $tcp
$ns attach-agent $server $sink
$ns connect $tcp $sink
$ns at 0 "$tcp select_ca $algorithm"
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0 "$ftp start"

set area 0.0
set samples 0
proc sample {} {
    global ns tcp area samples
    set area [expr $area + [$tcp set cwnd_]]
    incr samples
    $ns at [expr [$ns now] + 0.01] sample
}
$ns at 0.01 sample

proc trace {period} {
    global ns tcp
    puts "# [$ns now] [$tcp set cwnd_] [$tcp set ssthresh_] [$tcp set srtt_]"
    $ns at [expr [$ns now] + $period] "trace $period"
}
if {$trace_ms ne ""} {
    $ns at 0.001 "trace [expr $trace_ms / 1000.0]"
}

proc finish {} {
    global tcp payload area samples
    set delivered [expr ([$tcp set ack_] + 1) * $payload]
    puts "{\"delivered_bytes\": $delivered, \"sent_segments\": [$tcp set ndatapack_],\
        \"retransmitted_segments\": [$tcp set nrexmitpack_], \"mean_cwnd_segments\": [expr $area / $samples]}"
    exit 0
}
$ns at $seconds finish
$ns run
