// SPDX-License-Identifier: Apache-2.0

package ibsim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

const netFile = "testdata/two-switches.net"

// client returns a client of an ibsim, closed at the test's end.
func client(t testing.TB, at ibsim.Options, opts mad.ClientOptions) *mad.Client {
	t.Helper()
	transport, err := ibsim.Dial(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mad.NewClient(transport, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

func path(t testing.TB, text string) mad.Path {
	t.Helper()
	var p mad.Path
	for _, field := range strings.Split(text, ",")[1:] {
		port, err := strconv.ParseUint(field, 10, 8)
		if err == nil {
			p, err = p.Append(uint8(port))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestAnswers(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	c := client(t, ibsim.Options{Name: s.Name, Node: "node2 HCA-1"}, mad.ClientOptions{})
	for route, want := range map[string]string{
		"0": "node2 HCA-1", "0,1": "leaf one", "0,1,1": "spine", "0,1,2,1": "leaf one", "0,1,3": "node1 HCA-1",
	} {
		d, err := mad.Get[mad.NodeDescription](t.Context(), c, path(t, route), 0)
		if err != nil || d.String() != want {
			t.Errorf("%s is %q, %v, want %q", route, d.String(), err, want)
		}
	}
	_, err := mad.Get[mad.LinearForwardingTable](t.Context(), c, path(t, "0,1"), 900)
	if !errors.Is(err, mad.StatusInvalidValue) {
		t.Errorf("block 900: %v, want %v", err, mad.StatusInvalidValue)
	}
	_, err = mad.Get[mad.SwitchInfo](t.Context(), c, path(t, "0"), 0)
	if !errors.Is(err, mad.StatusMethodAttrMismatch) {
		t.Errorf("SwitchInfo of a CA: %v, want %v", err, mad.StatusMethodAttrMismatch)
	}
	for _, nowhere := range []string{"0,1,8", "0,1,200", "0,1,3,1"} {
		if _, err := c.NodeInfo(t.Context(), path(t, nowhere)); !errors.Is(err, mad.ErrTimeout) {
			t.Errorf("%s: %v, want %v", nowhere, err, mad.ErrTimeout)
		}
	}
	if _, err := c.SMInfo(t.Context(), path(t, "0,1,3")); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("SMInfo without an SM: %v, want %v", err, mad.ErrTimeout)
	}
}

// fields matches the lines "Name:....value" of smpquery.
var fields = regexp.MustCompile(`(?m)^(\w+):\.*(.*)$`)

func TestAgainstSmpquery(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	ibsimtest.OpenSM(t, s)
	c := client(t, ibsim.Options{Name: s.Name}, mad.ClientOptions{})
	for _, port := range []uint8{1, 2, 0} { // of the spine, the local node
		printed := map[string]string{}
		for _, m := range fields.FindAllStringSubmatch(s.Output("smpquery", "-D", "portinfo", "0", fmt.Sprint(port)),
			-1) {
			printed[m[1]] = strings.TrimSpace(m[2])
		}
		p, err := c.PortInfo(t.Context(), mad.Path{}, port)
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]string{
			"GidPrefix":        fmt.Sprintf("0x%016x", p.GIDPrefix),
			"Lid":              fmt.Sprint(p.LID),
			"SMLid":            fmt.Sprint(p.MasterSMLID),
			"CapMask":          fmt.Sprintf("0x%x", uint32(p.CapabilityMask)),
			"MkeyLeasePeriod":  fmt.Sprint(p.MKeyLeasePeriod),
			"LocalPort":        fmt.Sprint(p.LocalPort),
			"LinkState":        p.PortState.String(),
			"PhysLinkState":    p.PhysState.String(),
			"LinkDownDefState": p.LinkDownDefault.String(),
			"LMC":              fmt.Sprint(p.LMC),
			"NeighborMTU":      p.NeighborMTU.String(),
			"MtuCap":           p.MTUCap.String(),
			"VLCap":            p.VLCap.String(),
			"OperVLs":          p.OperVLs.String(),
			"VLStallCount":     fmt.Sprint(p.VLStallCount),
			"HoqLife":          fmt.Sprint(p.HOQLife),
			"GuidCap":          fmt.Sprint(p.GUIDCap),
			"SubnetTimeout":    fmt.Sprint(p.SubnetTimeout),
			"LinkWidthActive":  strings.ToUpper(p.LinkWidthActive.String()),
			"CapabilityMask2":  fmt.Sprintf("0x%x", uint16(p.CapabilityMask2)),
		} {
			if want, ok := printed[name]; !ok || got != want {
				t.Errorf("port %d: %s is %q, smpquery says %q", port, name, got, want)
			}
		}
	}
}

func TestAgainstIbnetdiscover(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	c := client(t, ibsim.Options{Name: s.Name, Node: "leaf one"}, mad.ClientOptions{})
	for guid, route := range map[string]string{"0x0002c90300a00010": "0,1", "0x0002c90300a00020": "0"} {
		caps, err := c.PortInfo(t.Context(), path(t, route), 0)
		if err != nil {
			t.Fatal(err)
		}
		ports := regexp.MustCompile(`(?m)^SW +\d+ +(\d+) `+guid+` (\S+) (\S+)`).
			FindAllStringSubmatch(s.Output("ibnetdiscover", "-p"), -1)
		if len(ports) != 8 {
			t.Fatalf("ibnetdiscover lists %d ports of %s", len(ports), guid)
		}
		for _, m := range ports {
			port, err := strconv.ParseUint(m[1], 10, 8)
			if err != nil {
				t.Fatal(err)
			}
			p, err := c.PortInfo(t.Context(), path(t, route), uint8(port))
			if err != nil {
				t.Fatal(err)
			}
			if width, speed := p.LinkWidthActive.String(), p.SpeedActive(&caps, false).String(); width != m[2] ||
				speed != m[3] {
				t.Errorf("port %d of %s is %s %s, ibnetdiscover says %s %s", port, guid, width, speed, m[2], m[3])
			}
		}
	}
}

var ibrouteLine = regexp.MustCompile(`(?m)^0x([0-9A-F]{4}) ([0-9]{3}) :`)

// Tables read by directed route and by LID equal the tables that ibroute reads.
func TestAgainstIbroute(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	ibsimtest.OpenSM(t, s)
	c := client(t, ibsim.Options{Name: s.Name}, mad.ClientOptions{})
	table, err := mad.Get[mad.LinearForwardingTable](t.Context(), c, path(t, "0,2"), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := mad.LinearForwardingTable{}
	for lid := range want {
		want[lid] = mad.NoPort
	}
	lines := ibrouteLine.FindAllStringSubmatch(s.Output("ibroute", "-D", "0,2"), -1)
	for _, m := range lines {
		lid, err1 := strconv.ParseUint(m[1], 16, 6)
		port, err2 := strconv.ParseUint(m[2], 10, 8)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		want[lid] = uint8(port)
	}
	if len(lines) != 5 || table != want {
		t.Errorf("got\n%v, ibroute says\n%v", table, want)
	}
	p0, err := c.PortInfo(t.Context(), path(t, "0,2"), 0)
	if err != nil {
		t.Fatal(err)
	}
	byLID, err := c.Do(t.Context(), &mad.Request{Attr: mad.AttrLinearForwardingTable, LID: p0.LID})
	if err != nil || byLID != want {
		t.Errorf("by LID %d: %v, %v", p0.LID, byLID, err)
	}
	changed := want
	changed[60] = 3
	if got, err := mad.Set(t.Context(), c, path(t, "0,2"), 0, changed); err != nil || got != changed {
		t.Errorf("set: %v, %v", got, err)
	}
	if got, err := mad.Get[mad.LinearForwardingTable](t.Context(), c, path(t, "0,1"), 0); err != nil || got != changed {
		t.Errorf("read back: %v, %v", got, err)
	}
}

func TestRemote(t *testing.T) {
	s := ibsimtest.Start(t, netFile, ibsimtest.Remote())
	c := client(t, ibsim.Options{Host: "localhost", Port: s.Port}, mad.ClientOptions{})
	d, err := mad.Get[mad.NodeDescription](t.Context(), c, path(t, "0,1"), 0)
	if err != nil || d.String() != "leaf one" {
		t.Errorf("got %q, %v", d.String(), err)
	}
	if out := s.Output("smpquery", "-D", "nodedesc", "0,1"); !strings.Contains(out, "leaf one") {
		t.Errorf("smpquery over UDP says %q", out)
	}
}

func TestDefaults(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	t.Setenv("IBSIM_SOCKNAME", s.Name)
	t.Setenv("SIM_HOST", "node3 HCA-1")
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := transport.Node(), "H-0002c90300b00050"; got != want {
		t.Errorf("attached to %q, want %q", got, want)
	}
	if err := transport.Close(); err != nil {
		t.Error(err)
	}
}

func TestLinkGoesDown(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	c := client(t, ibsim.Options{Name: s.Name}, mad.ClientOptions{})
	if _, err := c.NodeInfo(t.Context(), path(t, "0,2,3")); err != nil {
		t.Fatal(err)
	}
	s.Console(`Unlink "S-0002c90300a00020"[2]`)
	if _, err := c.NodeInfo(t.Context(), path(t, "0,2,3")); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("got %v, want %v", err, mad.ErrTimeout)
	}
	if _, err := c.NodeInfo(t.Context(), path(t, "0,1,3")); err != nil {
		t.Errorf("the other path: %v", err)
	}
	p, err := c.PortInfo(t.Context(), path(t, "0"), 2)
	if err != nil || p.PortState != mad.PortDown {
		t.Errorf("the port is %v, %v", p.PortState, err)
	}
}

// All requests succeed in the end although ibsim loses packets.
func TestLossyPort(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	c := client(t, ibsim.Options{Name: s.Name}, mad.ClientOptions{Window: 32, Tries: 30})
	s.Console(`Error "S-0002c90300a00020"[1] 20`) // of requests and of answers
	b := c.NewBatch(t.Context())
	const requests = 500
	answers := 0
	for range requests {
		b.Go(mad.Request{Attr: mad.AttrNodeInfo, Path: path(t, "0,1")}, func(r *mad.Reply) {
			var info mad.NodeInfo
			if err := r.Decode(&info); err != nil {
				t.Error(err)
			} else if info.NodeGUID == 0x0002c90300a00020 {
				answers++
			}
		})
	}
	if err := b.Wait(); err != nil {
		t.Fatal(err)
	}
	stats := c.Stats()
	if answers != requests || stats.Retried == 0 {
		t.Errorf("%d good answers out of %d, %+v", answers, requests, stats)
	}
}

func TestManyDialsDisconnect(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	for i := range 30 {
		transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name})
		if err != nil {
			t.Fatalf("the %dth: %v", i+1, err)
		}
		if err := transport.Close(); err != nil {
			t.Fatal(err)
		}
		if err := transport.Close(); err != nil {
			t.Errorf("close again: %v", err)
		}
		if err := transport.Send(&mad.Frame{}); !errors.Is(err, os.ErrClosed) {
			t.Errorf("send on a closed one: %v", err)
		}
		if err := transport.Recv(&mad.Frame{}); !errors.Is(err, os.ErrClosed) {
			t.Errorf("receive on a closed one: %v", err)
		}
	}
	for range 10 {
		client(t, ibsim.Options{Name: s.Name}, mad.ClientOptions{})
	}
	_, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name})
	if err == nil || !strings.Contains(err.Error(), "ten clients already") {
		t.Errorf("the eleventh at once: %v", err)
	}
}

func TestDialUnknownNode(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	_, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name, Node: "nobody"})
	if err == nil || !strings.Contains(err.Error(), `it has no node "nobody"`) {
		t.Errorf("got %v", err)
	}
	_, err = ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name, Node: strings.Repeat("x", 32)})
	if err == nil || !strings.Contains(err.Error(), "longer than the 31 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestDialWithoutIbsim(t *testing.T) {
	name := fmt.Sprintf("nobody-%d-%x", os.Getpid(), rand.Uint32())
	_, err := ibsim.Dial(t.Context(), ibsim.Options{Name: name})
	want := fmt.Sprintf(`ibsim %q: no ibsim listens on this socket (is ibsim -s running under that IBSIM_SOCKNAME?)`,
		name)
	if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = ibsim.Dial(t.Context(), ibsim.Options{Host: "127.0.0.1", Port: closedPort(t)})
	if err == nil || !strings.Contains(err.Error(),
		"no ibsim listens on this UDP port (is ibsim -r -s running there?)") {
		t.Errorf("got %v", err)
	}
	for length, want := range map[int]string{91: "no ibsim listens on this socket", 92: "longer than the 91 bytes"} {
		_, err := ibsim.Dial(t.Context(), ibsim.Options{Name: strings.Repeat("x", length)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a name of %d bytes: %v, want %s", length, err, want)
		}
	}
}

func closedPort(t *testing.T) uint16 {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	return uint16(c.LocalAddr().(*net.UDPAddr).Port)
}

// silentIbsim listens at the address of an ibsim and never answers.
func silentIbsim(t *testing.T) (name string, conn net.PacketConn) {
	t.Helper()
	name = fmt.Sprintf("silent-%d-%x", os.Getpid(), rand.Uint32())
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: "@" + name + ":ctl\x00"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return name, conn
}

func TestDialSilent(t *testing.T) {
	name, _ := silentIbsim(t)
	_, err := ibsim.Dial(t.Context(), ibsim.Options{Name: name})
	if !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 2s") {
		t.Errorf("got %v", err)
	}
}

func TestDialCancel(t *testing.T) {
	name, conn := silentIbsim(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _, _ = conn.ReadFrom(make([]byte, 80))
		cancel()
	}()
	if _, err := ibsim.Dial(ctx, ibsim.Options{Name: name}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// A place is free again however early a Dial is canceled.
func TestCanceledDialsDisconnect(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	canceled := 0
	for range 400 {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(rand.N(2*time.Millisecond), cancel)
		transport, err := ibsim.Dial(ctx, ibsim.Options{Name: s.Name})
		timer.Stop()
		cancel()
		if err == nil {
			err = transport.Close()
		} else if canceled++; errors.Is(err, context.Canceled) {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if attached := s.Console("Attached"); strings.Contains(attached, "Client ") || canceled == 0 {
		t.Errorf("%d were canceled; places are taken:\n%s", canceled, attached)
	}
}

func TestDialOther(t *testing.T) {
	name, conn := silentIbsim(t)
	go func() {
		if _, from, err := conn.ReadFrom(make([]byte, 80)); err == nil {
			back := &net.UnixAddr{Net: "unixgram", Name: from.String() + "\x00"} // Go cuts the NUL off
			_, _ = conn.WriteTo([]byte("who are you?"), back)
		}
	}()
	_, err := ibsim.Dial(t.Context(), ibsim.Options{Name: name})
	if err == nil || !strings.Contains(err.Error(), "the answer is not from ibsim") {
		t.Errorf("got %v", err)
	}
}

func TestGone(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	c := client(t, ibsim.Options{Name: s.Name}, mad.ClientOptions{})
	if _, err := c.NodeInfo(t.Context(), mad.Path{}); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	if _, err := c.NodeInfo(t.Context(), mad.Path{}); !errors.Is(err, ibsim.ErrGone) {
		t.Errorf("got %v, want %v", err, ibsim.ErrGone)
	}
}

func TestGoneRemote(t *testing.T) {
	s := ibsimtest.Start(t, netFile, ibsimtest.Remote())
	c := client(t, ibsim.Options{Host: "127.0.0.1", Port: s.Port}, mad.ClientOptions{})
	s.Stop()
	if _, err := c.NodeInfo(t.Context(), mad.Path{}); !errors.Is(err, ibsim.ErrGone) {
		t.Errorf("got %v, want %v", err, ibsim.ErrGone)
	}
}

// Requests to an ibsim that hangs end although its queue is full; after it continues, requests succeed.
func TestHangs(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	const requests = 1024 // of which a socket's queue holds a quarter
	c := client(t, ibsim.Options{
		Name: s.Name,
	}, mad.ClientOptions{Window: requests, Timeout: 10 * time.Millisecond, Tries: 2})
	s.Pause()
	b := c.NewBatch(t.Context())
	failed := 0
	for range requests {
		b.Go(mad.Request{Attr: mad.AttrNodeInfo}, func(r *mad.Reply) {
			if !errors.Is(r.Err, mad.ErrTimeout) {
				t.Errorf("got %v, want %v", r.Err, mad.ErrTimeout)
			}
			failed++
		})
	}
	if err := b.Wait(); err != nil || failed != requests {
		t.Errorf("%d failed, %v", failed, err)
	}
	s.Resume()
	s.Console("help") // it runs again
	_, err := c.NodeInfo(t.Context(), mad.Path{})
	for again := 0; errors.Is(err, mad.ErrTimeout) && again < 100; again++ { // on a busy machine 10 ms are little
		_, err = c.NodeInfo(t.Context(), mad.Path{})
	}
	if err != nil {
		t.Errorf("after that: %v", err)
	}
}

// Giving up on a stopped ibsim does it no harm. When it continues, all its clients are free, and new ones can connect.
func TestDialStopped(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	s.Pause()
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := ibsim.Dial(ctx, ibsim.Options{Name: s.Name}); err == nil {
			t.Error("a stopped ibsim answered")
		}
		cancel()
	}
	s.Resume()
	s.Console("help") // it runs again, and has read its queue or will
	for range 10 {
		c := client(t, ibsim.Options{Name: s.Name}, mad.ClientOptions{})
		if _, err := c.NodeInfo(t.Context(), mad.Path{}); err != nil {
			t.Error(err)
		}
	}
}
