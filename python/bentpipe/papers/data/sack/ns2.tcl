# The runs of this paper in ns-2, as a witness: ns ns2.tcl CASE VARIANT WINDOW SECONDS LIMIT DEFAULTS DROP...
#
# CASE satellite or terrestrial; VARIANT tahoe, reno, newreno or sack; WINDOW advertised, in packets; SECONDS of traffic;
# LIMIT of the buffer as ns-2 counts it (50 lets 49 packets wait); DEFAULTS 2000 or today; DROP the packets that the second
# link drops, counted from 0. Prints one line with units.
#
# DEFAULTS 2000 takes back the changes of default that tcl/lib/ns-default.tcl dates after February 2000, the ns-2 of the document.

if {$argc < 6} {
    puts stderr "usage: ns ns2.tcl satellite|terrestrial tahoe|reno|newreno|sack WINDOW SECONDS LIMIT 2000|today DROP..."
    exit 2
}
lassign $argv case variant window seconds limit defaults
set drops [lrange $argv 6 end]
set ns [new Simulator]
Agent/TCP set singledup_ 0
Agent/TCP set useHeaders_ false
if {$defaults eq "2000"} {
    foreach {name value} {
        windowInit_ 1 syn_ false delay_growth_ false tcpTick_ 0.1 rfc2988_ false minrto_ 0 precisionReduce_ false
        rtxcur_init_ 6.0 updated_rttvar_ false timerfix_ false exitFastRetrans_ false bugfix_ss_ 0 SetCWRonRetransmit_ false
    } {
        Agent/TCP set $name $value
    }
    Agent/TCP/Newreno set newreno_changes1_ 0
    Agent/TCP/Newreno set partial_window_deflation_ 0
}
set agents {tahoe Agent/TCP reno Agent/TCP/Reno newreno Agent/TCP/Newreno sack Agent/TCP/Sack1}
set cases {
    satellite {512 1.536Mb 62.5ms 1.536Mb 62.5ms}
    terrestrial {1000 8Mb 0.1ms 0.8Mb 100ms}
}
set tcp [new [dict get $agents $variant]]
# Reno of 2000 went into fast retransmit for each loss of a window; bugFix_ has kept it to one since July 2003.
if {$defaults eq "2000" && $variant eq "reno"} { $tcp set bugFix_ false }
# Sack1's pipe began with int(cwnd) - 3 until August 20, 2000.
if {$defaults eq "2000" && $variant eq "sack"} { $tcp set oldCode_ true }
set sink [new Agent/TCPSink[expr {$variant eq "sack" ? "/Sack1" : ""}]]
lassign [dict get $cases $case] size rate1 delay1 rate2 delay2

foreach n {source middle destination} { set $n [$ns node] }
$ns duplex-link $source $middle $rate1 $delay1 DropTail
$ns duplex-link $middle $destination $rate2 $delay2 DropTail
if {$case eq "satellite"} { $ns queue-limit $source $middle $limit }
$ns queue-limit $middle $destination $limit
set queue [expr {$case eq "satellite" ? [$ns monitor-queue $source $middle stdout] : [$ns monitor-queue $middle $destination stdout]}]
set waiting [new Samples]
$queue set-delay-samples $waiting
if {[llength $drops]} {
    set loss [new ErrorModel/List]
    $loss droplist $drops
    $loss drop-target [new Agent/Null]
    $ns lossmodel $loss $middle $destination
}
$tcp set window_ $window
$tcp set packetSize_ $size
$ns attach-agent $source $tcp
$ns attach-agent $destination $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp

proc done {} {
    global tcp queue waiting seconds size variant window
    # What arrived of what was sent, in whole packets.
    set efficiency [expr {100.0 * ([$tcp set ack_] + 1) / [$tcp set ndatapack_]}]
    set throughput [expr {8e-6 * $size * [$tcp set ndatapack_] / $seconds}]
    puts [format "%s, %d packets: efficiency %.1f %%, throughput %.3f Mbit/s, queueing delay %.1f ms, %d dropped, %d resent, %d timeouts" \
        $variant $window $efficiency $throughput [expr {1e3 * [$waiting mean]}] [$queue set pdrops_] [$tcp set nrexmitpack_] [$tcp set nrexmit_]]
    exit 0
}
$ns at 0 "$ftp start"
$ns at $seconds done
$ns run
