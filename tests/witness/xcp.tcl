# XCP in ns-2: flows over one link between two routers.
# usage: ns xcp.tcl RATE_MBPS RTT_MS[,RTT_MS...] END_S
# Prints, each half second, the time, the bytes that each flow had acknowledged, and the packets that wait.

set rate [lindex $argv 0]
set rtts [split [lindex $argv 1] ,]
set end [lindex $argv 2]

set ns [new Simulator]
set left [$ns node]
set right [$ns node]
# A queue of XCP knows its link by these.
proc xcp_link {ns a b mbps ms packets} {
    $ns duplex-link $a $b ${mbps}Mb ${ms}ms XCP
    foreach {from to} [list $a $b $b $a] {
        set queue [[$ns link $from $to] queue]
        $queue set-link-capacity [expr $mbps * 1e6]
        $ns queue-limit $from $to $packets
    }
}
xcp_link $ns $left $right $rate 250 2000
set watched [[$ns link $left $right] queue]

Agent/TCP set packetSize_ 1440
Agent/TCP set window_ 10000
Agent/TCP set maxcwnd_ 10000
Agent/TCP set windowInit_ 10
Agent/TCP set tcpip_base_hdr_size_ 60
Agent/TCP set tcpTick_ 0.001
Agent/TCP set minrto_ 1
Agent/TCP set timestamps_ true

set n 0
foreach rtt $rtts {
    set source [$ns node]
    # The link in the middle has 500 ms of it.
    xcp_link $ns $source $left 100 [expr ($rtt - 500) / 2.0] 5000
    set tcp($n) [new Agent/TCP/Reno/XCP]
    set sink [new Agent/TCPSink/XCPSink]
    $ns attach-agent $source $tcp($n)
    $ns attach-agent $right $sink
    $ns connect $tcp($n) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($n)
    $ns at 0.0 "$ftp start"
    incr n
}

proc tell {} {
    global ns tcp n watched
    set line [format %.1f [$ns now]]
    for {set i 0} {$i < $n} {incr i} {
        append line " [expr 1440 * ([$tcp($i) set ack_] + 1)]"
    }
    puts "$line"
    $ns at [expr [$ns now] + 0.5] tell
}
$ns at 0.5 tell
$ns at $end "exit 0"
$ns run
