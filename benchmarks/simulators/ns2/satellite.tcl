# One flow over a satellite in ns-2 with TCP-Linux, on the path of the HYBLA-CUBIC paper, to compare what TCP achieves.
# MIT licence, as the rest of lightlag.
#
#     ns satellite.tcl ALGORITHM RTT_MS PER QUEUE WINDOW SECONDS SEED [SYN] [TRACE_MS] < LOSSES
#
# source - router1 - router2 - satellite - sink, as in papers/lightlag_papers/hybla_cubic/satellite.toml: an access link
# of 100 Mbit/s and 2.5 ms, a bottleneck of 34.368 Mbit/s and 5 ms with a drop-tail queue of QUEUE packets, and an
# uplink and a downlink of the same rate whose delays make up the rest of RTT_MS. ACKs are lost independently with
# probability PER on each of the two satellite links. LOSSES has two lines: the data packets that are lost on the
# uplink, and those lost on the downlink. Each link counts its packets from 1, including retransmissions. WINDOW is the
# maximum window in segments and the initial slow-start threshold.
#
# All other settings are the defaults in ns-default.tcl: packets of 1000 bytes plus 40 bytes of headers, an initial
# window of two segments, an ACK of 40 bytes for every packet, no timestamps. With SYN = 0 the first packet is as long
# as the others; by default it has the 40 bytes of a SYN.
#
# Prints one JSON object as the last line. With TRACE_MS, the script also prints the window every TRACE_MS as lines
# "# time cwnd ssthresh srtt rto-backoff ack timeouts".

if {$argc < 7} {
    puts stderr "usage: ns satellite.tcl ALGORITHM RTT_MS PER QUEUE WINDOW SECONDS SEED \[SYN\] \[TRACE_MS\] < LOSSES"
    exit 1
}
lassign $argv algorithm round_trip_ms per queue window seconds seed syn trace_ms
set payload 1000
# TCP-Linux treats a segment sent at time 0 as one that was never timed.
set start 0.1

ns-random $seed
Agent/TCP set window_ $window
if {$syn ne ""} {
    Agent/TCP set syn_ $syn
}

set ns [new Simulator]
foreach name {source router1 router2 satellite sink} {
    set $name [$ns node]
}
set hop [expr ($round_trip_ms / 2.0 - 7.5) / 2.0]
$ns duplex-link $source $router1 100Mb 2.5ms DropTail
$ns duplex-link $router1 $router2 34.368Mb 5ms DropTail
$ns duplex-link $router2 $satellite 34.368Mb ${hop}ms DropTail
$ns duplex-link $satellite $sink 34.368Mb ${hop}ms DropTail
foreach {from to} "$source $router1 $router2 $satellite $satellite $sink" {
    $ns queue-limit $from $to 100000
    $ns queue-limit $to $from 100000
}
$ns queue-limit $router1 $router2 $queue
$ns queue-limit $router2 $router1 $queue

# Makes a link lose the given data packets. Packet 0, the first on the link, opens the connection.
proc lose_these {from to numbers} {
    if {[llength $numbers] == 0} {
        return
    }
    set errors [new ErrorModel/List]
    $errors unit pkt
    $errors droplist $numbers
    $errors drop-target [new Agent/Null]
    [Simulator instance] link-lossmodel $errors $from $to
}
lose_these $router2 $satellite [gets stdin]
lose_these $satellite $sink [gets stdin]

# Gives a link random losses from a separate stream. The first draws of small seeds are small numbers, so each would be
# a loss.
proc lose {from to per seed} {
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
    $errors set rate_ $per
    $errors ranvar $uniform
    $errors drop-target [new Agent/Null]
    [Simulator instance] link-lossmodel $errors $from $to
}
set stream [expr 10 * $seed]
foreach {from to} "$sink $satellite $satellite $router2" {
    lose $from $to $per [incr stream]
}

set tcp [new Agent/TCP/Linux]
set sink_agent [new Agent/TCPSink/Sack1]
$ns attach-agent $source $tcp
$ns attach-agent $sink $sink_agent
$ns connect $tcp $sink_agent
$ns at 0 "$tcp select_ca $algorithm"
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at $start "$ftp start"

set area 0.0
set samples 0
proc sample {} {
    global ns tcp area samples
    set area [expr $area + [$tcp set cwnd_]]
    incr samples
    $ns at [expr [$ns now] + 0.01] sample
}
$ns at [expr $start + 0.01] sample

proc trace {period} {
    global ns tcp
    puts "# [$ns now] [$tcp set cwnd_] [$tcp set ssthresh_] [$tcp set srtt_] [$tcp set backoff_] [$tcp set ack_]\
        [$tcp set nrexmit_]"
    $ns at [expr [$ns now] + $period] "trace $period"
}
if {$trace_ms ne ""} {
    $ns at 0.001 "trace [expr $trace_ms / 1000.0]"
}

proc finish {} {
    global tcp payload area samples
    set delivered [expr ([$tcp set ack_] + 1) * $payload]
    puts "{\"delivered_bytes\": $delivered, \"sent_segments\": [$tcp set ndatapack_],\
        \"retransmitted_segments\": [$tcp set nrexmitpack_], \"timeouts\": [$tcp set nrexmit_],\
        \"window_cuts\": [$tcp set ncwndcuts_], \"mean_cwnd_segments\": [expr $area / $samples]}"
    exit 0
}
$ns at [expr $start + $seconds] finish
$ns run
