// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// runIn runs commands in a session, and returns their text.
func runIn(ctx context.Context, s *session.Session, commands string) (string, error) {
	var out bytes.Buffer
	err := shell.New(s).Run(ctx, "test", commands, &shell.Output{W: &out, Notes: &out})
	return out.String(), err
}

// drainable returns the words of a random link, switch or host that can be drained.
func drainable(rnd *rand.Rand, n *sessiontest.Subnet) string {
	f := n.Fabric
	switch rnd.IntN(3) {
	case 0:
		for {
			l := f.Links()[rnd.IntN(len(f.Links()))]
			if f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None {
				return "link '" + f.PortName(l.A) + "'"
			}
		}
	case 1:
		for {
			sw := f.SwitchNode(switchOf(rnd, n))
			isLeaf := false
			for p := range sw.Ports() {
				peer := f.PeerNode(p)
				isLeaf = isLeaf || peer != fabric.None && !f.Nodes[peer].IsSwitch()
			}
			if !isLeaf {
				return "switch '" + sw.Desc + "'"
			}
		}
	}
	for {
		node := &f.Nodes[rnd.IntN(len(f.Nodes))]
		if node.Type == mad.NodeCA && f.Ports[f.SMPort].Node != f.NodesByDescription(node.Desc)[0] {
			return "host '" + node.Desc + "'"
		}
	}
}

// switchOf returns a random switch.
func switchOf(rnd *rand.Rand, n *sessiontest.Subnet) fabric.SwitchIndex {
	return fabric.SwitchIndex(rnd.IntN(len(n.Fabric.Switches)))
}

// TestRandomDrains drains random links, switches and hosts, with and without disabling their ports, up to two at a
// time, and puts them back. While something is drained, no pair of the other hosts loses its path. After the last
// undrain, the switches hold what they held before.
func TestRandomDrains(t *testing.T) {
	rnd := testenv.Rand(t)
	n := sessiontest.NewSubnet(t, "fattree:2,6")
	before := n.Held()
	s := n.Console()
	kinds := map[string]int{}
	for i := range testenv.Count(t, 2, 300) {
		var drained []string
		for range 1 + rnd.IntN(2) {
			what := drainable(rnd, n)
			if len(drained) > 0 && (what == drained[0] || !strings.HasPrefix(what, "host")) {
				continue // two links or switches may leave a leaf without a path
			}
			disables := ""
			if strings.HasPrefix(what, "host") || rnd.IntN(2) == 0 { // the tables to a host stay
				disables = " port=disable"
			}
			out, err := runIn(t.Context(), s, "drain "+what+" yes"+disables)
			if err != nil {
				t.Fatalf("round %d: drain %s%s after %q: %v\n%s", i, what, disables, drained, err, out)
			}
			isLost := strings.HasPrefix(what, "link") && strings.Contains(out, "LOST")
			if isLost || strings.Contains(out, "INTERRUPTED") {
				t.Fatalf("round %d: drain %s interrupts pairs:\n%s", i, what, out)
			}
			kinds[strings.Fields(what)[0]+disables]++
			drained = append(drained, what)
		}
		if len(drained) > 0 && n.Held() == before {
			t.Fatalf("round %d: nothing changed with %q", i, drained)
		}
		if rnd.IntN(2) == 0 { // another console puts it back
			s = n.Console()
		}
		for k := len(drained) - 1; k >= 0; k-- {
			if out, err := runIn(t.Context(), s, "undrain "+drained[k]+" yes"); err != nil {
				t.Fatalf("round %d: undrain %s of %q: %v\n%s", i, drained[k], drained, err, out)
			}
		}
		if n.Held() != before {
			t.Fatalf("round %d: after %q the switches hold something else", i, drained)
		}
	}
	t.Logf("drained: %v", kinds)
}

// stopper is a transport that calls stop at a Set.
type stopper struct {
	mad.Transport
	left *atomic.Int64 // Sets until then
	stop func()
}

func (c *stopper) Send(f *mad.Frame) error {
	var smp mad.SMP
	if smp.UnmarshalBinary(f.Data[:]) == nil && smp.Method == mad.MethodSet && c.left.Add(-1) == 0 {
		c.stop()
	}
	return c.Transport.Send(f)
}

// TestStoppedDrains stops drains and undrains at random Sets. The next console reports an interrupted commit, which is
// resumed or rolled back. Then the same command is run again or undone. At the end the switches and ports are in the
// state of before the drain.
func TestStoppedDrains(t *testing.T) {
	rnd := testenv.Rand(t)
	n := sessiontest.NewSubnet(t, "fattree:2,6")
	var left atomic.Int64
	stop := func() {}
	n.Wrap = func(conn mad.Transport) mad.Transport {
		return &stopper{conn, &left, func() { stop() }}
	}
	before := n.Held()
	stopped, whole := 0, 0
	for i := range testenv.Count(t, 2, 300) {
		what := drainable(rnd, n)
		words := "drain " + what + " yes port=disable"
		for _, command := range []string{words, "undrain " + what + " yes"} {
			s := n.Console()
			ctx, cancel := context.WithCancel(t.Context())
			stop = cancel
			left.Store(1 + int64(rnd.IntN(12)))
			_, err := runIn(ctx, s, command)
			left.Store(0)
			cancel()
			if err == nil {
				whole++
				continue
			}
			stopped++
			n.Leave()
			s = n.Console()
			if s.State().Interrupted != "" {
				then := "commit resume yes"
				if rnd.IntN(2) == 0 {
					then = "rollback yes"
				}
				if strings.Contains(s.State().Interrupted, "rollback of") {
					then = "rollback yes" // finishes it
				}
				if out, err := runIn(t.Context(), s, then+" force-unreachable"); err != nil {
					t.Fatalf("round %d: %s after %s: %v\n%s", i, then, command, err, out)
				}
			}
			if command == words && rnd.IntN(2) == 0 {
				out, err := runIn(t.Context(), s, words)
				isDrained := err != nil && (strings.Contains(err.Error(), "no node is called") ||
					strings.Contains(err.Error(), "has no link")) // the resumed commit disabled its last ports
				if err != nil && !isDrained {
					t.Fatalf("round %d: %s again: %v\n%s", i, words, err, out)
				}
			}
		}
		s := n.Console()
		for range 2 { // what the stopped undrain left
			out, err := runIn(t.Context(), s, "undrain "+what+" yes")
			if err != nil && !strings.Contains(err.Error(), "is not drained") {
				t.Fatalf("round %d: undrain %s: %v\n%s", i, what, err, out)
			}
		}
		n.Leave()
		if n.Held() != before {
			t.Fatalf("round %d: %s: the switches hold something else than before", i, what)
		}
	}
	t.Logf("%d commands stopped, %d whole", stopped, whole)
}

// TestDrainsOverIbsim drains random links, switches and hosts over ibsim, whose links do not train again after a port
// was disabled, and puts them back.
func TestDrainsOverIbsim(t *testing.T) {
	rnd := testenv.Rand(t)
	n := sessiontest.NewSubnet(t, "fattree:2,6")
	n.Other = sessiontest.Ibsim(t, "sim:fattree:2,6")
	s := n.Console()
	n.Route(s, "minhop")
	if out, err := runIn(t.Context(), s, "commit yes"); err != nil {
		t.Fatal(err, out)
	}
	before := n.Held()
	for i := range testenv.Count(t, 1, 100) {
		what := drainable(rnd, n)
		if strings.HasPrefix(what, "host") {
			continue // its drain changes no table
		}
		for _, command := range []string{"drain ", "undrain "} {
			if out, err := runIn(t.Context(), s, command+what+" yes"); err != nil {
				t.Fatalf("round %d: %s%s: %v\n%s", i, command, what, err, out)
			}
			if isBefore := n.Held() == before; isBefore != (command == "undrain ") {
				t.Fatalf("round %d: after %s%s the tables are those of before: %v", i, command, what, isBefore)
			}
		}
	}
}
