# One flow of ns-2's Vegas over one bottleneck: ns vegas.tcl RATE_MBPS RTT_MS QUEUE_PACKETS LOSS SECONDS SEED
# Prints what was delivered, in bit/s, and how many packets were sent again. Segments have 1460 bytes of data.

if {$argc != 6} {
    puts stderr "usage: ns vegas.tcl RATE_MBPS RTT_MS QUEUE_PACKETS LOSS SECONDS SEED"
    exit 2
}
lassign $argv rate rtt queue loss seconds seed
ns-random $seed
set ns [new Simulator]
set s [$ns node]
set d [$ns node]
$ns duplex-link $s $d ${rate}Mb [expr {$rtt / 2.0}]ms DropTail
# ns-2's queue counts the packet that is being sent.
$ns queue-limit $s $d [expr {$queue + 1}]
$ns queue-limit $d $s 100000
if {$loss > 0} {
    set model [new ErrorModel]
    $model unit pkt
    $model set rate_ $loss
    $model drop-target [new Agent/Null]
    $ns link-lossmodel $model $s $d
}
set tcp [new Agent/TCP/Vegas]
set sink [new Agent/TCPSink]
# Its Vegas sends packets of this size with nothing for headers.
$tcp set packetSize_ 1500
$tcp set window_ 10000
$tcp set v_alpha_ 2
$tcp set v_beta_ 4
$tcp set v_gamma_ 1
$ns attach-agent $s $tcp
$ns attach-agent $d $sink
$ns connect $tcp $sink
$ns at 0 "[$tcp attach-app FTP] start"
$ns at $seconds {
    puts "[expr {([$tcp set ack_] + 1) * 1460 * 8.0 / $seconds}] [$tcp set nrexmitpack_]"
    exit 0
}
$ns run
