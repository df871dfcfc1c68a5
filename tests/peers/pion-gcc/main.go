// SPDX-License-Identifier: LGPL-2.1-or-later

// pion-gcc recv NEAR PORT
// pion-gcc send FAR PORT SECONDS LEAST_BPS MOST_BPS
// pion-gcc version
//
// An audio sender whose rate is what pion's GCC says, and its receiver, as a
// peer for tests/experiments (README.md there): frames of 20 ms, without their
// sound, feedback by TWCC every 100 ms.
package main

import (
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

const (
	uri      = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
	ssrc     = 0x1000
	frame    = 20 * time.Millisecond
	overhead = 12 + 8 // RTP and its extension: what GCC counts
	mostSize = 1200   // of a packet's payload
	startBps = 64000  // what GCC begins with
)

func info() *interceptor.StreamInfo {
	return &interceptor.StreamInfo{
		SSRC:                ssrc,
		RTPHeaderExtensions: []interceptor.RTPHeaderExtension{{URI: uri, ID: 1}},
		RTCPFeedback:        []interceptor.RTCPFeedback{{Type: "transport-cc"}},
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "pion-gcc:", err)
		os.Exit(1)
	}
}

func receive(port int) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{Port: port})
	check(err)
	factory, err := twcc.NewSenderInterceptor(twcc.SendInterval(100 * time.Millisecond))
	check(err)
	feedback, err := factory.NewInterceptor("")
	check(err)
	// one packet as the socket gave it: the interceptor only looks at it
	reader := feedback.BindRemoteStream(info(), interceptor.RTPReaderFunc(
		func(b []byte, a interceptor.Attributes) (int, interceptor.Attributes, error) {
			return len(b), a, nil
		}))
	bound := false
	for buffer := make([]byte, 1500); ; {
		n, from, err := conn.ReadFromUDP(buffer)
		check(err)
		if !bound {
			bound = true
			feedback.BindRTCPWriter(interceptor.RTCPWriterFunc(
				func(packets []rtcp.Packet, _ interceptor.Attributes) (int, error) {
					b, err := rtcp.Marshal(packets)
					if err != nil {
						return 0, err
					}
					return conn.WriteToUDP(b, from)
				}))
		}
		if _, _, err := reader.Read(buffer[:n], interceptor.Attributes{}); err != nil {
			fmt.Fprintln(os.Stderr, "pion-gcc:", err)
		}
	}
}

// chain returns what a sender asks for its rate, and where its packets go.
func chain(conn *net.UDPConn, least, most int) (cc.BandwidthEstimator, interceptor.RTPWriter) {
	estimators := make(chan cc.BandwidthEstimator, 1)
	control, err := cc.NewInterceptor(func() (cc.BandwidthEstimator, error) {
		return gcc.NewSendSideBWE(gcc.SendSideBWEPacer(gcc.NewNoOpPacer()),
			gcc.SendSideBWEInitialBitrate(startBps),
			gcc.SendSideBWEMinBitrate(least), gcc.SendSideBWEMaxBitrate(most))
	})
	check(err)
	control.OnNewPeerConnection(func(_ string, e cc.BandwidthEstimator) { estimators <- e })
	numbers, err := twcc.NewHeaderExtensionInterceptor()
	check(err)
	var links []interceptor.Interceptor
	// the last one sees a packet first: GCC wants it numbered
	for _, factory := range []interceptor.Factory{control, numbers} {
		link, err := factory.NewInterceptor("")
		check(err)
		links = append(links, link)
	}
	all := interceptor.NewChain(links)
	reader := all.BindRTCPReader(interceptor.RTCPReaderFunc(
		func(b []byte, a interceptor.Attributes) (int, interceptor.Attributes, error) {
			n, err := conn.Read(b)
			return n, a, err
		}))
	go func() {
		for buffer := make([]byte, 1500); ; {
			// an error is a port that nobody listens at yet
			if _, _, err := reader.Read(buffer, interceptor.Attributes{}); err != nil {
				time.Sleep(frame)
			}
		}
	}()
	writer := all.BindLocalStream(info(), interceptor.RTPWriterFunc(
		func(h *rtp.Header, payload []byte, _ interceptor.Attributes) (int, error) {
			b, err := (&rtp.Packet{Header: *h, Payload: payload}).Marshal()
			if err != nil {
				return 0, err
			}
			return conn.Write(b)
		}))
	return <-estimators, writer
}

func send(to *net.UDPAddr, seconds float64, least, most int) {
	conn, err := net.DialUDP("udp4", nil, to)
	check(err)
	control, writer := chain(conn, least, most)
	header := rtp.Header{Version: 2, PayloadType: 96, SSRC: ssrc}
	start := time.Now()
	for next := start; next.Sub(start).Seconds() < seconds; next = next.Add(frame) {
		time.Sleep(time.Until(next))
		size := int(float64(control.GetTargetBitrate()) * frame.Seconds() / 8)
		for first := true; first || size > overhead; first = false {
			payload := min(max(size-overhead, 1), mostSize)
			if _, err := writer.Write(&header, make([]byte, payload),
				interceptor.Attributes{}); err != nil {
				fmt.Fprintln(os.Stderr, "pion-gcc:", err)
			}
			header.SequenceNumber++
			size -= payload + overhead
		}
		header.Timestamp += 960
	}
}

// version says which of pion's this was built with.
func version() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		os.Exit(1)
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/pion/interceptor" {
			fmt.Println("pion/interceptor", module.Version)
		}
	}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		version()
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "recv" {
		port, err := strconv.Atoi(os.Args[3])
		check(err)
		receive(port)
	}
	if len(os.Args) != 7 || os.Args[1] != "send" {
		fmt.Fprintln(os.Stderr, "usage: pion-gcc recv NEAR PORT |",
			"pion-gcc send FAR PORT SECONDS LEAST_BPS MOST_BPS | pion-gcc version")
		os.Exit(2)
	}
	to, err := net.ResolveUDPAddr("udp4", net.JoinHostPort(os.Args[2], os.Args[3]))
	check(err)
	seconds, err := strconv.ParseFloat(os.Args[4], 64)
	check(err)
	least, err := strconv.Atoi(os.Args[5])
	check(err)
	most, err := strconv.Atoi(os.Args[6])
	check(err)
	send(to, seconds, least, most)
}
