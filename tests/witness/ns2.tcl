# One ns-2 transfer with chosen data packets dropped: ns ns2.tcl VARIANT SEGMENTS WINDOW LIMITED_TRANSMIT DROP...
#
# VARIANT tahoe, reno, newreno, sack, tahoe-2000, reno-2000, newreno-1999, newreno-2003 or sack-1996; SEGMENTS of data in all; WINDOW of the
# receiver in packets (also ns-2's initial ssthresh); LIMITED_TRANSMIT 0 or 1; DROP the n-th data packets that cross the
# bottleneck, counted from 1 over first transmissions and retransmissions. The minimum RTO is 1 s, so that its fine structure decides nothing; everything else is
# as ns-2 has it by default: for those with a year in their name as it had it by default then.
#
# Prints "send TIME_S SEGMENT CWND_PACKETS" for each transmission (SEGMENT 0 is the SYN) and, at the end,
# "end TIME_S TIMEOUTS RETRANSMISSIONS CWND_PACKETS". cwnd is without the inflation by duplicate ACKs, which ns-2 keeps apart.

if {$argc < 4} {
    puts stderr "usage: ns ns2.tcl VARIANT SEGMENTS WINDOW LIMITED_TRANSMIT DROP..."
    exit 2
}
lassign $argv variant segments window limited_transmit
set drops [lrange $argv 4 end]

# ns-2 needs its simulator before the first agent.
set ns [new Simulator]
switch $variant {
    tahoe - tahoe-2000 { set tcp [new Agent/TCP] }
    reno - reno-2000 { set tcp [new Agent/TCP/Reno] }
    newreno - newreno-1999 - newreno-2003 { set tcp [new Agent/TCP/Newreno] }
    sack - sack-1996 { set tcp [new Agent/TCP/Sack1] }
    default { puts stderr "no such variant: $variant"; exit 2 }
}
# The defaults of then, by ns-default.tcl of ns-2.35: the first two changed on May 5, 2003, the third on July 28, 2003, the last on
# January 24, 2006.
switch $variant {
    tahoe-2000 { $tcp set precisionReduce_ false }
    reno-2000 {
        # Until July 28, 2003 it went into fast retransmit for each loss of a window: in ns-2.35 without bugFix_.
        $tcp set bugFix_ false
        $tcp set exitFastRetrans_ false
        $tcp set precisionReduce_ false
    }
    newreno-1999 {
        $tcp set newreno_changes1_ 0
        $tcp set partial_window_deflation_ 0
        $tcp set exitFastRetrans_ false
        $tcp set precisionReduce_ false
    }
    newreno-2003 {
        $tcp set exitFastRetrans_ false
        $tcp set precisionReduce_ false
    }
    sack-1996 { $tcp set precisionReduce_ false }
}
if {[string match "sack*" $variant]} { set sink [new Agent/TCPSink/Sack1] } else { set sink [new Agent/TCPSink] }

foreach n {s g d} { set $n [$ns node] }
$ns duplex-link $s $g 8Mb 0.1ms DropTail
$ns duplex-link $g $d 0.8Mb 100ms DropTail
$ns queue-limit $g $d 1000

# Lost on the way, after taking their time on the link, as bentpipe does it. The SYN is packet 0 of the list, so the first
# data packet is 1.
set loss [new ErrorModel/List]
$loss droplist $drops
$loss drop-target [new Agent/Null]
$ns link-lossmodel $loss $g $d

$tcp set window_ $window
$tcp set singledup_ $limited_transmit
$tcp set minrto_ 1
$ns attach-agent $s $tcp
$ns attach-agent $d $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp

# The link's arrivals, in the order of sending, go to a pipe-like file that is read back at the end.
set path [exec mktemp]
set trace [open $path w]
$ns trace-queue $s $g $trace
$tcp attach $trace
$tcp trace cwnd_

Agent/TCP instproc done {} {
    global ns trace path
    $ns flush-trace
    close $trace
    set in [open $path]
    set cwnd 1
    while {[gets $in line] >= 0} {
        # "+ time from to tcp size flags fid src dst seqno id" or "time saddr sport daddr dport cwnd_ value"
        if {[lindex $line 5] eq "cwnd_"} {
            set cwnd [lindex $line 6]
        } elseif {[lindex $line 0] eq "+"} {
            puts "send [lindex $line 1] [lindex $line 10] $cwnd"
        }
    }
    close $in
    file delete $path
    puts "end [format %.6f [$ns now]] [$self set nrexmit_] [$self set nrexmitpack_] [$self set cwnd_]"
    exit 0
}

$ns at 0 "$ftp send [expr {$segments * 1000}]"
$ns at 1000 { puts stderr "the transfer did not end in 1000 s"; file delete $path; exit 1 }
$ns run
