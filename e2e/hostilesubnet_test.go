// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// hostileSubnet answers the program in the place of an ibsim: behind each port of each switch is a new switch.
type hostileSubnet struct {
	t     *testing.T
	name  string
	ports uint8  // of each switch
	top   uint16 // LinearFDBTop of each switch, which also has all multicast LIDs
	depth int    // hops after which there is nothing, 0 for none
	flood bool   // answers come twice, and unsolicited packets follow without a pause

	ctl     *net.UnixConn
	mu      sync.Mutex
	sockets []*net.UnixConn
}

// The messages between ibsim and its clients (mad/ibsim/message.go).
const (
	simConnect    = 1
	simDisconnect = 2
	simHeader     = 32 // before a MAD
)

func (h *hostileSubnet) start() (source string) {
	h.t.Helper()
	h.name = fmt.Sprintf("hostile-%d-%d", os.Getpid(), time.Now().UnixNano())
	h.ctl = h.listen("ctl")
	h.t.Cleanup(h.stop)
	go h.control()
	return "ibsim:" + h.name
}

func (h *hostileSubnet) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sockets {
		_ = s.Close()
	}
}

func (h *hostileSubnet) address(socket string) *net.UnixAddr {
	return &net.UnixAddr{Net: "unixgram", Name: "@" + h.name + ":" + socket + "\x00"}
}

func (h *hostileSubnet) listen(socket string) *net.UnixConn {
	c, err := net.ListenUnixgram("unixgram", h.address(socket))
	if err != nil {
		h.t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sockets = append(h.sockets, c)
	return c
}

// control answers connects, disconnects and probes.
func (h *hostileSubnet) control() {
	le := binary.LittleEndian
	b := make([]byte, 200)
	for client := 0; ; {
		n, from, err := h.ctl.ReadFromUnix(b)
		if err != nil {
			return
		}
		if le.Uint32(b[8:]) == simConnect {
			out := h.listen(fmt.Sprintf("out%d", client))
			to := h.address(fmt.Sprintf("in%d", le.Uint32(b[16:])))
			le.PutUint32(b[16:], uint32(client))
			client++
			go h.serve(out, to)
			if h.flood {
				go h.pour(out, to)
			}
		}
		from.Name += "\x00" // which Go cuts off
		_, _ = h.ctl.WriteToUnix(b[:n], from)
	}
}

// serve answers the requests of a client.
func (h *hostileSubnet) serve(out *net.UnixConn, to *net.UnixAddr) {
	var p [simHeader + mad.Size]byte
	for {
		n, err := out.Read(p[:])
		if err != nil {
			return
		}
		if m := p[simHeader:]; n == len(p) && h.answer((*[mad.Size]byte)(m)) {
			_, _ = out.WriteToUnix(p[:], to)
			if h.flood {
				_, _ = out.WriteToUnix(p[:], to)
			}
		}
	}
}

// pour sends unsolicited packets: answers to random requests, traps and packets of unknown classes.
func (h *hostileSubnet) pour(out *net.UnixConn, to *net.UnixAddr) {
	var p [simHeader + mad.Size]byte
	m := p[simHeader:]
	classes := []uint8{uint8(mad.ClassSMPDirected), uint8(mad.ClassSMPLID), uint8(mad.ClassPerf), uint8(mad.ClassSA),
		0x7f}
	methods := []uint8{uint8(mad.MethodGetResp), uint8(mad.MethodTrap), uint8(mad.MethodGetTableResp)}
	binary.BigEndian.PutUint64(p[24:], mad.Size)
	m[mad.OffBaseVersion], m[mad.OffClassVersion] = 1, 1
	for i := uint64(0); ; i++ {
		m[mad.OffClass] = classes[i%uint64(len(classes))]
		m[mad.OffMethod] = methods[i%uint64(len(methods))]
		binary.BigEndian.PutUint64(m[mad.OffTID:], i)
		binary.BigEndian.PutUint16(m[mad.OffAttr:], uint16(mad.AttrNodeInfo)+uint16(i%7))
		if _, err := out.WriteToUnix(p[:], to); err != nil {
			return // the client has gone
		}
	}
}

// walk returns the ports that lead down to the switch of a packet, without those that lead up again, and the port at
// which the packet arrived.
func (h *hostileSubnet) walk(m *[mad.Size]byte) (down []uint8, at uint8) {
	for _, port := range m[mad.OffInitialPath+1:][:m[mad.OffHopCount]] {
		if port == 1 && len(down) > 0 {
			at, down = down[len(down)-1], down[:len(down)-1]
			continue
		}
		down, at = append(down, port), 1
	}
	return down, at
}

// answer turns a request into its answer. It returns false if there is none.
func (h *hostileSubnet) answer(m *[mad.Size]byte) bool {
	if m[mad.OffClass] != uint8(mad.ClassSMPDirected) || m[mad.OffHopCount] > mad.MaxHops {
		return false
	}
	down, at := h.walk(m)
	if h.depth > 0 && len(down) > h.depth {
		return false
	}
	sum := fnv.New64a()
	_, _ = sum.Write(down)
	guid := sum.Sum64() | 1
	var attr interface{ AppendBinary([]byte) ([]byte, error) }
	switch id := mad.AttrID(binary.BigEndian.Uint16(m[mad.OffAttr:])); id {
	case mad.AttrNodeInfo:
		attr = &mad.NodeInfo{BaseVersion: 1, ClassVersion: 1, Type: mad.NodeSwitch, NumPorts: h.ports, NodeGUID: guid,
			SystemImageGUID: guid, PortGUID: guid, LocalPort: at}
	case mad.AttrSwitchInfo:
		attr = &mad.SwitchInfo{LinearFDBCap: mad.LastUnicastLID, LinearFDBTop: h.top, LifeTimeValue: 18,
			MulticastFDBCap: 1 << 14}
	case mad.AttrPortInfo:
		info := &mad.PortInfo{LocalPort: at, PortState: mad.PortActive, PhysState: mad.PhysLinkUp,
			LinkWidthEnabled: 2, LinkWidthSupported: 2, LinkWidthActive: 2, LinkSpeedActive: 1, LinkSpeedEnabled: 1,
			LinkSpeedSupported: 1, LID: uint16(guid % mad.LastUnicastLID)}
		if h.depth > 0 && len(down) == h.depth && m[mad.OffMod+3] > 1 {
			info.PortState = mad.PortDown
		}
		attr = info
	case mad.AttrNodeDescription, mad.AttrLinearForwardingTable:
		attr = nil
	default:
		return false
	}
	clear(m[mad.OffData : mad.OffData+mad.DataSize])
	if attr != nil {
		data, err := attr.AppendBinary(nil)
		if err != nil {
			return false
		}
		copy(m[mad.OffData:], data)
	}
	m[mad.OffMethod] = uint8(mad.MethodGetResp)
	binary.BigEndian.PutUint16(m[mad.OffStatus:], 0x8000)
	return true
}

// TestEndlessTree sweeps trees without an end: a chain, trees of switches with few and with many ports, and switches
// that claim tables of all LIDs and multicast LIDs. The program gives up, names the reason, and uses less than
// 2 GB of memory. It names some LIDs that several switches claim, and counts the others.
func TestEndlessTree(t *testing.T) {
	for _, c := range []struct {
		ports    uint8
		top      uint16
		says     string
		isSample bool
		reads    string
	}{
		{2, 0, "too many hops: 64, at most 63 are possible", true, ""},
		{2, mad.LastUnicastLID, "too many hops: 64, at most 63 are possible", true, ""},
		{3, 0, "too many nodes: those after the first 49151", false, ""},
		{3, mad.LastUnicastLID, "too many forwarding tables: those of 49151 switches", false, ""},
		{36, 0, "too many nodes: those after the first 49151", false, ""},
		{254, 0, "too many nodes: those after the first 8224 with 2097120 ports", false, ""},
		{254, mad.LastUnicastLID, "too many nodes: those after the first 8224 with 2097120 ports", false, ""},
		{3, 0, "more warnings like this: LID ", false, ""},
		{3, 0, "too many multicast forwarding tables: those of 49151 switches", false, "sweep full mft"},
	} {
		if !c.isSample && !testenv.Full() {
			continue
		}
		h := &hostileSubnet{t: t, ports: c.ports, top: c.top}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
		begun := time.Now()
		cmd := exec.CommandContext(ctx, program, "-s", h.start(), "-c", cmp.Or(c.reads, "summary; problems"))
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil || !strings.Contains(string(out), c.says) {
			t.Errorf("%+v: %v, %.3000s", c, err, out)
		}
		if mb := memory(cmd); mb > memoryLimit(t, 2000) {
			t.Errorf("%+v: %d MB", c, mb)
		} else {
			t.Logf("%+v: %v, %d MB", c, time.Since(begun).Round(time.Second/10), mb)
		}
	}
}

// TestInterruptInAFlood interrupts the program while unsolicited packets arrive without a pause: while it
// sweeps an endless tree, and while it watches a small subnet. It ends within a second.
func TestInterruptInAFlood(t *testing.T) {
	r := testenv.Rand(t)
	longest, limit := time.Duration(0), time.Second
	if !testenv.Full() {
		limit = 10 * time.Second // other tests run at the same time
	}
	for round := range testenv.Count(t, 4, 200) {
		h := &hostileSubnet{t: t, ports: 36, flood: true}
		if round%2 == 1 {
			h.ports, h.depth = 4, 2
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, program, "-s", h.start(), "-c", "summary; watch 0.1")
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
		out := &waiting{until: []byte("states: live"), come: make(chan struct{})}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-out.come:
		case <-time.After(time.Duration(500+r.IntN(1500)) * time.Millisecond): // an endless tree takes longer
		}
		sent := time.Now()
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
		cancel()
		took := time.Since(sent)
		status := cmd.ProcessState.ExitCode()
		by, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		ended := status == exitSignal+int(syscall.SIGINT) ||
			by.Signaled() && by.Signal() == syscall.SIGINT || // before it handled signals
			status == exitDone && h.depth > 0 || // the normal end of watch
			status == exitFailed && strings.Contains(string(out.all), "no answer") // on a busy machine
		if !ended || took > limit {
			t.Errorf("round %d: exit status %d after %v: %.2000s", round, status, took, out.all)
		}
		longest = max(longest, took)
		h.stop()
	}
	t.Logf("at most %v", longest)
}
