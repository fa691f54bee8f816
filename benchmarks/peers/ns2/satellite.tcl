# One flow over a satellite in ns-2 with TCP-Linux, on the path of the HYBLA-CUBIC paper, to compare what TCP achieves.
# MIT licence, as the rest of lightlag.
#
#     ns satellite.tcl ALGORITHM RTT_MS PER QUEUE WINDOW SECONDS SEED [SYN] [TRACE_MS] < LOSSES
#
# source - router1 - router2 - satellite - sink, as in papers/lightlag_papers/hybla_cubic/satellite.toml: access of
# 100 Mbit/s and 2.5 ms, a bottleneck of 34.368 Mbit/s and 5 ms with a drop-tail queue of QUEUE packets, up- and down-link
# of the same rate that make up the rest of RTT_MS. On either of them ACKs are lost independently with the probability PER.
# LOSSES has two lines: which data packets are lost on the up-link and which on the down-link, counted from 1 as each link
# carries them, repairs too. WINDOW is the maximum window in segments, and the first slow-start threshold.
#
# Everything else is as ns-default.tcl has it: packets of 1000 bytes and 40 of headers, two segments to begin with, an ACK
# of 40 bytes for every packet, no timestamps. With SYN = 0 the first packet is as long as the others; by default it has
# the 40 bytes of a SYN.
#
# Prints one JSON object as its last line. With TRACE_MS the window is also printed as lines
# "# time cwnd ssthresh srtt rto-backoff ack timeouts".

if {$argc < 7} {
    puts stderr "usage: ns satellite.tcl ALGORITHM RTT_MS PER QUEUE WINDOW SECONDS SEED \[SYN\] \[TRACE_MS\] < LOSSES"
    exit 1
}
lassign $argv algorithm round_trip_ms per queue window seconds seed syn trace_ms
set payload 1000
# TCP-Linux takes a segment that left at 0 for one that was never timed.
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

# A link that loses these data packets; the first one that it carries, number 0, opens the connection.
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

# A link that loses with a stream of its own. The first draws of small seeds are small numbers, each a loss.
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
