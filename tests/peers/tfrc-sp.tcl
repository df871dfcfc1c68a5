# SPDX-License-Identifier: LGPL-2.1-or-later
#
# TFRC-SP (RFC 4828) as ns-2 has it, which the RFC's own tables come from.
#
#   ns tfrc-sp.tcl table payload=200 app_bps=160e3 loss=0.1 seed=1
#     kbit/s on the wire (to stderr), as in the RFC's appendix B.1: a path of
#     240 ms that loses packets at random, the second half of 100 s; with
#     intervals=1 also ns-2's own record of its loss intervals
#
#   ns tfrc-sp.tcl run seconds=120 rate_bps=500e3 delay_s=0.05 queue_bytes=18750
#       packet_bytes=160 app_bps=768e3 start_s=5 cc=cubic seed=1 flow=media
#       tcp=tcp tcp_start_s=0 link=wan
#     beside a TCP, or several of one kind (tcp=one,two tcp_start_s=0,5; cc=none: alone);
#     queue_packets=20 instead of queue_bytes; writes flows.csv and links.csv
#
# Needs ns-2.35 (Debian: apt-get install ns2).

array set word {cc none tcp tcp tcp_start_s 0 flow media link wan loss 0 seed 1
                intervals 0 queue_packets 0}
set mode [lindex $argv 0]
foreach pair [lrange $argv 1 end] {
  set word([lindex [split $pair =] 0]) [lindex [split $pair =] 1]
}

ns-random $word(seed)
Agent/TFRC set voip_ 1
Agent/TFRC set fsize_ 1460
Agent/TFRCSink set ShortIntervals_ 1
Agent/TFRCSink set printLoss_ $word(intervals)
Agent/TCP set window_ 10000
Agent/TCP set packetSize_ 1448
Agent/TCP set tcpip_base_hdr_size_ 52
Queue/DropTail set queue_in_bytes_ true
Queue/DropTail set mean_pktsize_ 1

set ns [new Simulator]
set near [$ns node]
set far [$ns node]

# talker PAYLOAD HEADER APP_BPS START_S: all of a bundle as one flow; app_bps is
# what the application has, of payload
proc talker {payload header app_bps start_s} {
  global ns near far
  set agent [$ns create-connection TFRC $near TFRCSink $far 1]
  $agent set packetSize_ $payload
  $agent set headersize_ $header
  $agent set voip_max_pkt_rate_ [expr {$app_bps / 8.0 / $payload}]
  $ns at $start_s "$agent start"
  return $agent
}

# [RFC4828 B.1]
proc table {} {
  global ns near far word agent sent
  $ns duplex-link $near $far 10Mb 120ms DropTail
  $ns queue-limit $near $far 1000000
  set errors [new ErrorModel]
  $errors set rate_ $word(loss)
  $errors unit packet
  $errors ranvar [new RandomVariable/Uniform]
  $errors drop-target [new Agent/Null]
  $ns lossmodel $errors $near $far
  set agent [talker $word(payload) 32 $word(app_bps) 0.0]
  $ns at 50.0 {set sent [$agent set ndatapack_]}
  $ns at 100.0 {
    puts stderr [expr {([$agent set ndatapack_] - $sent) * ($word(payload) + 32) * 8
                / 50e3}]
    exit 0
  }
  $ns run
}

# The link counts what comes, leaves and is dropped, by flow.
proc look {} {
  global ns monitor word flows links before
  set now [$ns now]
  set names [list "" $word(flow) {*}[split $word(tcp) ,]]
  set classifier [$monitor classifier]
  for {set fid 1} {$fid < [llength $names]} {incr fid} {
    set counts [$classifier lookup auto 0 0 $fid]
    if {$counts == ""} {
      continue
    }
    set line {}
    foreach key {barrivals_ bdepartures_ parrivals_ pdepartures_ pdrops_} {
      set value [$counts set $key]
      set last 0
      catch {set last $before($fid,$key)}
      set before($fid,$key) $value
      lappend line [expr {$value - $last}]
    }
    lassign $line came left packets passed dropped
    puts $flows [format "%.3f,%s,%.0f,%.0f,%d,%d,%d,,1" $now \
      [lindex $names $fid] [expr {$came * 80}] [expr {$left * 80}] \
      $packets $passed $dropped]
  }
  set left [$monitor set bdepartures_]
  set wait [expr {[$monitor set size_] * 8e3 / $word(rate_bps)}]
  puts $links [format "%.3f,%s,%.0f,%.3f,%.3f" $now $word(link) \
    [expr {($left - $before(link)) * 80}] $wait $wait]
  set before(link) $left
  $ns at [expr {$now + 0.1}] look
}

proc run {} {
  global ns near far word monitor flows links before
  $ns duplex-link $near $far $word(rate_bps) [expr {$word(delay_s)}]s DropTail
  if {$word(queue_packets)} {
    [[$ns link $near $far] queue] set queue_in_bytes_ false
    $ns queue-limit $near $far $word(queue_packets)
  } else {
    $ns queue-limit $near $far $word(queue_bytes)
  }
  $ns queue-limit $far $near 1000000
  set monitor [$ns makeflowmon Fid]
  $ns attach-fmon [$ns link $near $far] $monitor
  # ns-2 has no other chance in it: a seed is when the audio starts
  set start_s [expr {$word(start_s) + 0.1 * [ns-random] / 2147483647.0}]
  talker [expr {$word(packet_bytes) - 40}] 40 \
    [expr {$word(app_bps) * ($word(packet_bytes) - 40) / $word(packet_bytes)}] \
    $start_s
  if {$word(cc) != "none"} {
    set fid 1
    foreach start_s [split $word(tcp_start_s) ,] {
      set tcp [$ns create-connection TCP/Linux $near TCPSink/Sack1/DelAck $far [incr fid]]
      $ns at 0 "$tcp select_ca $word(cc)"
      set ftp [$tcp attach-app FTP]
      $ns at $start_s "$ftp start"
    }
  }
  set flows [open flows.csv w]
  puts $flows "t_s,flow,sent_bps,received_bps,sent_packets,received_packets,lost_packets,delay_ms,ssrcs"
  set links [open links.csv w]
  puts $links "t_s,link,passed_bps,queue_ms,queue_max_ms"
  set before(link) 0
  $ns at 0.1 look
  $ns at [expr {$word(seconds) + 0.05}] {close $flows; close $links; exit 0}
  $ns run
}

$mode
