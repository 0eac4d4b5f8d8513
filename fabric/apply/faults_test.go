// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// wire is a transport that changes sent packets.
type wire struct {
	mad.Transport
	mu     sync.Mutex
	change func(*mad.SMP)
}

func (w *wire) Send(f *mad.Frame) error {
	changed := *f
	var smp mad.SMP
	if err := smp.UnmarshalBinary(f.Data[:]); err != nil {
		return err
	}
	w.mu.Lock()
	w.change(&smp)
	w.mu.Unlock()
	smp.Put(&changed.Data)
	return w.Transport.Send(&changed)
}

// subnet is a simulated subnet, its sweep, and the writes that route it.
type subnet struct {
	s    *sim.Sim
	port fabric.PortIndex
	live *sweep.Result
	want *fabric.Tables
	w    *write.List
}

func newSubnet(t testing.TB, spec string) *subnet {
	t.Helper()
	f := generate(t, spec)
	n := &subnet{s: sim.New(f, sim.Options{SendBack: true}), port: f.SMPort}
	n.live = full(t, n.client(t, nil))
	n.want = route(t, n.live.Fabric)
	n.w = changes(n.live.Tables, n.want)
	return n
}

// client returns a client at the subnet's SM port whose timeout never expires.
func (n *subnet) client(t testing.TB, change func(*mad.SMP)) *mad.Client {
	t.Helper()
	if change == nil {
		change = func(*mad.SMP) {}
	}
	return client(t, &wire{Transport: open(t, n.s, n.port), change: change},
		mad.ClientOptions{Timeout: time.Minute, Tries: 2, Window: 8})
}

// done checks that a subnet has the wanted tables.
func (n *subnet) done(t *testing.T) {
	t.Helper()
	n.s.SetFaults(sim.Faults{})
	after := full(t, n.client(t, nil))
	sameTables(t, n.want, after.Tables)
	if more := changes(after.Tables, route(t, after.Fabric)); more.Len() != 0 {
		t.Errorf("%d writes still to do: %+v", more.Len(), more)
	}
}

func TestFaultsChangeNothing(t *testing.T) {
	rnd := testenv.Rand(t)
	for _, faults := range []sim.Faults{
		{Loss: 0.01}, {Loss: 0.10}, {Delay: 3 * time.Millisecond}, {Repeat: 0.5},
		{Loss: 0.05, Repeat: 0.2, Delay: 8 * time.Millisecond},
	} {
		faults.Seed = rnd.Uint64()
		t.Run(fmt.Sprintf("%+v", faults), func(t *testing.T) {
			n := newSubnet(t, "torus:5x4,2")
			n.s.SetFaults(faults)
			// One try fails in at most 19 % of cases, 12 tries in 2e-9.
			c := client(t, open(t, n.s, n.port), mad.ClientOptions{Window: 64, Timeout: 5 * time.Millisecond, Tries: 12,
				Backoff: 1.6})
			if _, err := apply.Apply(t.Context(), c, n.live.Fabric, n.w, apply.Options{}); err != nil {
				t.Fatal(err)
			}
			n.done(t)
		})
	}
}

// TestAgainIsNothing checks that existing values are not written again, and that ports that are up are not changed.
func TestAgainIsNothing(t *testing.T) {
	n := newSubnet(t, "torus:4x3,2")
	if _, err := apply.Apply(t.Context(), n.client(t, nil), n.live.Fabric, n.w, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	again := &write.List{LIDs: n.w.LIDs, Tops: n.w.Tops, States: n.w.States}
	sets := 0
	c := n.client(t, func(m *mad.SMP) {
		if m.Method == mad.MethodSet {
			sets++
		}
	})
	rep, err := apply.Apply(t.Context(), c, n.live.Fabric, again, apply.Options{})
	if err != nil || rep.Written.Total() != again.Len() || sets != 0 {
		t.Errorf("%v written with %d Sets, error %v; want %d without any", rep.Written, sets, err, again.Len())
	}
}

// TestKeepsOtherFields checks that only the LID of a PortInfo and the LinearFDBTop of a SwitchInfo change.
func TestKeepsOtherFields(t *testing.T) {
	n := newSubnet(t, "torus:4x3,2")
	c := n.client(t, nil)
	f := n.live.Fabric
	sw := f.Switches[3]
	routes := sweep.NewRoutes(f)
	path, err := routes.ToNode(sw)
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.PortInfo(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	info.GIDPrefix, info.MasterSMSL, info.SubnetTimeout, info.HOQLife, info.MKeyLeasePeriod = 0xfe80<<48|7, 3, 18, 9, 60
	info.PortState, info.PhysState = 0, 0
	before, err := mad.Set(t.Context(), c, path, 0, info)
	if err != nil {
		t.Fatal(err)
	}
	si, err := mad.Get[mad.SwitchInfo](t.Context(), c, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	w := &write.List{
		LIDs: []write.LID{{Port: f.Nodes[sw].FirstPort, New: 40, NewSM: 1}}, Tops: []write.Top{{Switch: 3, New: 99}},
	}
	if _, err := apply.Apply(t.Context(), c, f, w, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	after, err := c.PortInfo(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	before.LID, before.MasterSMLID = 40, 1
	if before != after {
		t.Errorf("PortInfo\n%+v\nwant\n%+v", after, before)
	}
	si.LinearFDBTop = 99
	if now, err := mad.Get[mad.SwitchInfo](t.Context(), c, path, 0); err != nil || now != si || !now.PortStateChange {
		t.Errorf("SwitchInfo\n%+v\nwant\n%+v (%v)", now, si, err)
	}
}

// TestDeadSwitch checks a switch that stops responding after the sweep. Its links do not come up, so no route is
// written, and the error names it.
func TestDeadSwitch(t *testing.T) {
	n := newSubnet(t, "fattree:3,8")
	f := n.live.Fabric
	dead := f.SwitchByGUID(0x200020)
	sent := 0
	path, err := sweep.NewRoutes(f).ToNode(f.Switches[dead])
	if err != nil {
		t.Fatal(err)
	}
	c := n.client(t, func(m *mad.SMP) {
		if pathOf(m) == path {
			sent++
		}
	})
	n.s.Silence(simNode(t, n, f.SwitchNode(dead).GUID), true)
	rep, err := apply.Apply(t.Context(), c, f, n.w, apply.Options{})
	if !errors.Is(err, mad.ErrTimeout) || !strings.Contains(err.Error(), "stopped in ports") ||
		!strings.Contains(err.Error(), f.NodeName(f.Switches[dead])+": ") {
		t.Errorf("error %v, want that of %s", err, f.NodeName(f.Switches[dead]))
	}
	for i, failure := range rep.Failed { // links of its neighbours to it cannot come up
		if i == 0 && failure.GUID != 0x200020 || i > 0 &&
			!strings.HasSuffix(failure.Error(), "stays Armed and does not become Active") {
			t.Errorf("failed %v", failure)
		}
	}
	for _, l := range rep.Left.LIDs {
		if f.Ports[l.Port].Node != f.Switches[dead] {
			t.Errorf("LID of %s is left", f.PortName(l.Port))
		}
	}
	for _, s := range rep.Left.States {
		node, peer := f.Ports[s.Port].Node, f.PeerNode(s.Port)
		if node != f.Switches[dead] && peer != f.Switches[dead] {
			t.Errorf("state of %s is left", f.PortName(s.Port))
		}
	}
	if rep.Stopped != "ports" || rep.Written.Tops+rep.Written.Blocks != 0 {
		t.Errorf("stopped in %q, %v written", rep.Stopped, rep.Written)
	}
	if got := rep.Written.Total() + rep.Left.Len(); got != n.w.Len() {
		t.Errorf("%v written and %d left of %d", rep.Written, rep.Left.Len(), n.w.Len())
	}
	if sent > 30 { // 4 in a row, and those in flight, each sent twice
		t.Errorf("%d packets to a dead switch", sent)
	}
}

// inSteps returns writes of blocks in several steps, for a subnet that is up: each step writes a block of every switch,
// filled with the number of the step.
func inSteps(n *subnet, steps int) *write.List {
	w := &write.List{}
	for step := 1; step <= steps; step++ {
		for sw := range n.live.Fabric.NumSwitches() {
			b := write.Block{Switch: sw, Num: 700, Step: step, New: new([64]uint8)}
			for i := range b.New {
				b.New[i] = uint8(step)
			}
			w.Blocks = append(w.Blocks, b)
		}
	}
	return w
}

// TestStepsWaitForOneAnother checks that no packet of a step is sent after one of the next, despite losses, and that
// the last step is read back.
func TestStepsWaitForOneAnother(t *testing.T) {
	n := newSubnet(t, "torus:5x4,2")
	n.s.SetFaults(sim.Faults{Loss: 0.1, Delay: 2 * time.Millisecond, Seed: testenv.Rand(t).Uint64()})
	w := inSteps(n, 4)
	step, sets := 0, 0
	late := &wire{Transport: open(t, n.s, n.port), change: func(m *mad.SMP) {
		if m.Method != mad.MethodSet {
			return
		}
		sets++
		if now := int(m.Data[0]); now < step {
			t.Errorf("a packet of step %d after one of step %d", now, step)
		} else {
			step = now
		}
	}}
	c := client(t, late, mad.ClientOptions{Window: 16, Timeout: 5 * time.Millisecond, Tries: 12, Backoff: 1.6})
	rep, err := apply.Apply(t.Context(), c, n.live.Fabric, w, apply.Options{})
	if err != nil {
		t.Fatal(err)
	}
	switches := len(n.live.Fabric.Switches)
	if rep.Written.Blocks != 4*switches || rep.ReadBack.Blocks != switches || rep.Stopped != "" || sets <= 4*switches {
		t.Errorf("%v written with %d packets, %v read back, stopped in %q", rep.Written, sets, rep.ReadBack,
			rep.Stopped)
	}
}

// TestFailureStopsTheSteps checks a switch that dies between two steps. The second is written to all others, the third
// to none.
func TestFailureStopsTheSteps(t *testing.T) {
	n := newSubnet(t, "torus:5x4,2")
	w := inSteps(n, 3)
	w.Tops = []write.Top{{Switch: 3, New: 100}, {Switch: 4, Old: 100, New: 90}}
	dead := n.live.Fabric.Switches[7]
	silent := generate(t, "torus:5x4,2").NodeByGUID(n.live.Fabric.Nodes[dead].GUID)
	path, err := sweep.NewRoutes(n.live.Fabric).ToNode(dead)
	if err != nil {
		t.Fatal(err)
	}
	c := n.client(t, func(m *mad.SMP) {
		if m.Method == mad.MethodSet && pathOf(m) == path && m.Data[0] == 2 {
			n.s.Silence(silent, true)
		}
	})
	rep, err := apply.Apply(t.Context(), c, n.live.Fabric, w, apply.Options{})
	if err == nil || !strings.Contains(err.Error(), "stopped in step 2 of 3, later steps were not begun: "+
		n.live.Fabric.NodeName(dead)) {
		t.Errorf("error %v", err)
	}
	switches := len(n.live.Fabric.Switches)
	if rep.Stopped != "step 2 of 3" || rep.Written.Blocks != 2*switches-1 || rep.Written.Tops != 1 {
		t.Errorf("stopped in %q, %v written", rep.Stopped, rep.Written)
	}
	// The contents of the block whose second write got no answer are unknown.
	if len(rep.Differ) != 0 || rep.ReadBack.Blocks != switches-1 {
		t.Errorf("%v read back, differ %v", rep.ReadBack, rep.Differ)
	}
	if len(rep.Left.Blocks) != switches+1 || rep.Left.Blocks[0].Step != 2 || rep.Left.Blocks[0].Switch != 7 ||
		len(rep.Left.Tops) != 1 || !rep.Left.Tops[0].Falls() {
		t.Errorf("%d blocks and tops %v are left", len(rep.Left.Blocks), rep.Left.Tops)
	}
}

func simNode(t *testing.T, n *subnet, guid uint64) fabric.NodeIndex {
	t.Helper()
	f := generate(t, "fattree:3,8")
	if i := f.NodeByGUID(guid); i != fabric.None {
		return i
	}
	t.Fatalf("no node 0x%x", guid)
	return 0
}

// TestReadBackFindsDifferences checks a switch that acknowledges a write and stores something else.
func TestReadBackFindsDifferences(t *testing.T) {
	n := newSubnet(t, "fattree:2,4")
	c := n.client(t, func(m *mad.SMP) {
		if m.Method != mad.MethodSet || m.HopCount != 1 {
			return
		}
		switch m.Attr {
		case mad.AttrLinearForwardingTable:
			m.Data[5] = 77
		case mad.AttrSwitchInfo:
			m.Data[7] = 63
		}
	})
	rep, err := apply.Apply(t.Context(), c, n.live.Fabric, n.w, apply.Options{})
	if !errors.Is(err, apply.ErrDiffers) {
		t.Fatalf("error %v, want ErrDiffers", err)
	}
	want := []string{
		fmt.Sprintf("leaf-01: LinearFDBTop is 63, expected %d", n.want.Fabric.MaxLID),
		fmt.Sprintf("leaf-01: block 0, LID 5 is 77, expected %d", n.want.Port(n.live.Fabric.SwitchByGUID(0x200000), 5)),
	}
	var got []string
	for _, d := range rep.Differ {
		got = append(got, d.String())
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("differ %q, want %q", got, want)
	}
	if rep.ReadBack.Total() != n.w.Len() || rep.Left.Len() != 0 {
		t.Errorf("read back %v, left %d", rep.ReadBack, rep.Left.Len())
	}
}

// TestRefusal checks a port that refuses to come up.
func TestRefusal(t *testing.T) {
	n := newSubnet(t, "fattree:2,4")
	c := n.client(t, func(m *mad.SMP) {
		if m.Method == mad.MethodSet && m.Attr == mad.AttrPortInfo && m.HopCount == 1 && m.Mod&0xff == 3 {
			m.Data[32] = m.Data[32]&0xf0 | 9 // no such state
		}
	})
	rep, err := apply.Apply(t.Context(), c, n.live.Fabric, n.w, apply.Options{})
	if err == nil || !strings.Contains(err.Error(), "leaf-01: port 3 stays Initialize and does not become Armed") {
		t.Errorf("error %v", err)
	}
	// The far end of that link cannot become active either.
	if len(rep.Left.States) != 2 || len(rep.Left.LIDs) != 0 || rep.Written.Tops+rep.Written.Blocks != 0 ||
		rep.Stopped != "ports" {
		t.Errorf("%v written, left %v, stopped in %q", rep.Written, rep.Left.States, rep.Stopped)
	}
}

// TestPortsThatActivateThemselves checks a port that is already active when it is set, as adapters are that have
// received a packet.
func TestPortsThatActivateThemselves(t *testing.T) {
	n := newSubnet(t, "fattree:2,4")
	c := n.client(t, func(m *mad.SMP) {
		if m.Method == mad.MethodSet && m.Attr == mad.AttrPortInfo && m.Data[32]&0xf == 4 && m.HopCount == 1 {
			// Set it twice: the second answer is an error.
			other := open(t, n.s, n.port)
			defer other.Close()
			var f mad.Frame
			m.Put(&f.Data)
			if err := other.Send(&f); err != nil {
				t.Error(err)
			}
		}
	})
	if _, err := apply.Apply(t.Context(), c, n.live.Fabric, n.w, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	n.done(t)
}

// TestCancel stops in the middle of the blocks: the switches hold exactly the blocks that the report lists as written.
func TestCancel(t *testing.T) {
	n := newSubnet(t, "torus:8x8,4")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	blocks := 0
	c := n.client(t, func(m *mad.SMP) {
		if m.Method == mad.MethodSet && m.Attr == mad.AttrLinearForwardingTable {
			if blocks++; blocks == 100 {
				cancel()
			}
		}
	})
	rep, err := apply.Apply(ctx, c, n.live.Fabric, n.w, apply.Options{})
	if !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), fmt.Sprintf("of %d writes were done", n.w.Len())) {
		t.Fatalf("error %v, want that of the context and a count", err)
	}
	if rep.ReadBack.Total() != 0 || len(rep.Left.States) != 0 || rep.Written.Blocks < 100 || rep.Written.Blocks > 110 {
		t.Errorf("read back %v, %d states left, %d blocks written", rep.ReadBack, len(rep.Left.States),
			rep.Written.Blocks)
	}
	if got := rep.Written.Total() + rep.Left.Len(); got != n.w.Len() {
		t.Errorf("%v written and %d left of %d", rep.Written, rep.Left.Len(), n.w.Len())
	}
	after := full(t, n.client(t, nil))
	todo := changes(after.Tables, n.want)
	if len(todo.Blocks) != len(rep.Left.Blocks) {
		t.Errorf("%d blocks are not written, the report says %d", len(todo.Blocks), len(rep.Left.Blocks))
	}
	if _, err := apply.Apply(t.Context(), n.client(t, nil), n.live.Fabric, &rep.Left, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	n.done(t)
}

// TestUnfit checks that writes that do not fit are refused before anything is sent.
func TestUnfit(t *testing.T) {
	n := newSubnet(t, "xgft:2,2,2,2,2") // two planes; the second is unreachable
	f := n.live.Fabric
	host := f.SMPort
	var free fabric.PortIndex = fabric.None
	for i := range f.NumPorts() {
		if p := &f.Ports[i]; !p.Linked() && p.Num > 0 {
			free = i
		}
	}
	sw := f.SwitchNode(0)
	cut, _ := f.LinkOf(f.SMPort)
	apart, err := f.Without([]fabric.Link{cut}).WithSMPort(f.SMPort)
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	c := n.client(t, func(*mad.SMP) { sent++ })
	for _, test := range []struct {
		name string
		f    *fabric.Fabric
		w    write.List
		err  error
		text string
	}{
		{"LID 0", f, write.List{LIDs: []write.LID{{Port: host}}}, write.ErrUnfit, "LID 0 with LMC 0"},
		{"LID too high", f, write.List{LIDs: []write.LID{{Port: host, New: 0xbffc, NewLMC: 3}}}, write.ErrUnfit,
			"LID 49148"},
		{"LID crooked", f, write.List{LIDs: []write.LID{{Port: host, New: 3, NewLMC: 1}}}, write.ErrUnfit,
			"not a multiple of 2"},
		{"LMC too high", f, write.List{LIDs: []write.LID{{Port: host, New: 256, NewLMC: 8}}}, write.ErrUnfit, "LMC 8"},
		{"no end port", f, write.List{LIDs: []write.LID{{Port: sw.FirstPort + 1, New: 3}}}, write.ErrUnfit,
			"not an end port"},
		{"no port", f, write.List{States: []write.State{{Port: -1, New: mad.PortActive}}}, write.ErrUnfit,
			"port index -1"},
		{"no switch", f, write.List{Tops: []write.Top{{Switch: 99}}}, write.ErrUnfit, "switch index 99"},
		{"top too high", f, write.List{Tops: []write.Top{{New: 0xc000}}}, write.ErrUnfit, "49152"},
		{"block too high", f, write.List{Blocks: []write.Block{{Num: 768}}}, write.ErrUnfit, "block 768"},
		{"steps", f, write.List{Blocks: []write.Block{{Num: 1, Step: 2}, {Num: 2, Step: 1}}}, write.ErrUnfit,
			"step 1 follows step 2"},
		{"no link", f, write.List{States: []write.State{{Port: free, New: mad.PortActive}}}, write.ErrUnfit, "no link"},
		{
			"no such state", f, write.List{States: []write.State{{Port: host, New: mad.PortDown}}},
			write.ErrUnfit, "Down",
		},
		{"no path", apart, write.List{Tops: []write.Top{{New: 5}}}, sweep.ErrNoRoute, "leaf-01-01: no directed route"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rep, err := apply.Apply(t.Context(), c, test.f, &test.w, apply.Options{})
			if rep != nil || !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %v, want one that contains %q", err, test.text)
			}
		})
	}
	if sent != 0 {
		t.Errorf("%d packets sent", sent)
	}
}

func TestProgress(t *testing.T) {
	n := newSubnet(t, "torus:4x3,2")
	var done, total int
	_, err := apply.Apply(t.Context(), n.client(t, nil), n.live.Fabric, n.w, apply.Options{Progress: func(d, all int) {
		done, total = d, all
	}})
	if err != nil || done != total || total != 2*n.w.Len() {
		t.Errorf("progress ends at %d of %d, want %d (%v)", done, total, 2*n.w.Len(), err)
	}
}

// BenchmarkApply writes full tables to the fat-tree of 11,664 hosts and 1,620 switches and reads them back: 336,960
// blocks in each direction.
func BenchmarkApply(b *testing.B) {
	f, err := fabric.AssignLIDs(generate(b, "fattree:3,36"))
	if err != nil {
		b.Fatal(err)
	}
	s := sim.New(f, sim.Options{})
	c := client(b, open(b, s, f.SMPort), mad.ClientOptions{Window: 64})
	var w write.List
	for sw := range f.NumSwitches() {
		w.Tops = append(w.Tops, write.Top{Switch: sw, New: f.MaxLID})
	}
	for num := range int(f.MaxLID)/fabric.BlockSize + 1 {
		for sw := range f.NumSwitches() {
			w.Blocks = append(w.Blocks, write.Block{Switch: sw, Num: uint16(num), New: new([64]uint8)})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := apply.Apply(b.Context(), c, f, &w, apply.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// pathOf returns the directed route of a request.
func pathOf(m *mad.SMP) mad.Path {
	p, _ := mad.Path{}.Append(m.InitialPath[1 : 1+m.HopCount]...)
	return p
}
