// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// portOf returns the control of a port without a change, and the directed route to its node.
func portOf(t *testing.T, s *session.Session, name string, num int) (write.Control, mad.Path) {
	t.Helper()
	f := s.State().Live.Fabric
	node := f.NodesByDescription(name)[0]
	port := f.PortAt(node, num)
	path, err := sweep.NewRoutes(f).ToPort(port)
	if err != nil {
		t.Fatal(err)
	}
	return write.Control{Port: port, GUID: f.Nodes[node].GUID, Num: uint8(num)}, path
}

// heldPorts returns the PortInfo of every port that the console reaches.
func heldPorts(t *testing.T, s *session.Session, names map[string]mad.Path, f *fabric.Fabric) string {
	t.Helper()
	var b strings.Builder
	for name, path := range names {
		for num := range f.Nodes[f.NodesByDescription(name)[0]].NumPorts + 1 {
			info, err := mad.Get[mad.PortInfo](t.Context(), s.Connection().Client(), path, uint32(num))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, name, num, info.PortState, info.PhysState, info.LinkWidthEnabled, info.LinkSpeedEnabled,
				info.LinkSpeedExtEnabled)
		}
	}
	lines := strings.Split(b.String(), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestPortsLikeIbportstate gives the same commands to the console and to ibportstate, each on its own ibsim, and
// compares the 64 bytes of the PortInfo at both ends of the link. The LIDs of a switch's external ports are not
// compared: ibportstate writes 0x1234 there, which has no meaning (IBA 14.2.5.6), and ibsim keeps it.
func TestPortsLikeIbportstate(t *testing.T) {
	ours, theirs := newSubnet(t, "fattree:2,8"), newSubnet(t, "fattree:2,8")
	ours.Other, theirs.Other = sessiontest.Ibsim(t, "sim:fattree:2,8"), sessiontest.Ibsim(t, "sim:fattree:2,8")
	s, other := ours.Console(), theirs.Console()
	reset := func(c *write.Control) { c.Phys, c.Reset = mad.PhysPolling, true }
	for _, step := range []struct {
		words  string
		change func(*write.Control)
	}{
		{"speed 3", func(c *write.Control) { c.Speed = 3 }},
		{"width 1", func(c *write.Control) { c.Width = 1 }},
		{"speed 7", func(c *write.Control) { c.Speed = 7 }},
		{"width 3", func(c *write.Control) { c.Width = 3 }},
		{"disable", func(c *write.Control) { c.Phys = mad.PhysDisabled }},
		{"enable", func(c *write.Control) { c.Phys = mad.PhysPolling }},
		{"reset", reset},
	} {
		f := s.State().Live.Fabric
		sw := f.SwitchNode(0)
		control, path := portOf(t, s, sw.Desc, 7) // to the second tier
		step.change(&control)
		opt := yes
		opt.AllowUnreachable, opt.AllowIncomplete, opt.LinkWait = true, true, 100*time.Millisecond
		if _, err := commits.Control(t.Context(), s, []write.Control{control}, step.words, opt); err != nil {
			t.Fatalf("%s: %v", step.words, err)
		}
		args := append([]string{"-D", fmt.Sprint(path), "7"}, strings.Fields(step.words)...)
		theirs.Other.Output("ibportstate", args...)
		for _, num := range []uint32{7, 8} {
			a, errA := mad.Get[mad.PortInfo](t.Context(), s.Connection().Client(), path, num)
			b, errB := mad.Get[mad.PortInfo](t.Context(), other.Connection().Client(), path, num)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			b.LID, b.MasterSMLID = a.LID, a.MasterSMLID
			if a != b {
				t.Errorf("%s: port %d is\n%+v, by ibportstate\n%+v", step.words, num, a, b)
			}
		}
	}
}

// TestStoppedPorts interrupts commits that disable ports at any of their Sets, in every manner. The next console
// reports the commit. Then it is resumed or rolled back, and the ports and tables are those of an undisturbed commit or
// those of before.
func TestStoppedPorts(t *testing.T) {
	rnd := testenv.Rand(t)
	opt := yes
	opt.AllowUnreachable = true
	stopped, whole := map[error]int{}, 0
	for i := range testenv.Count(t, 11, 300) {
		n, twin := newSubnet(t, "fattree:2,6"), newSubnet(t, "fattree:2,6")
		disable := func(n *subnet, s *session.Session) func(context.Context) error {
			var all []write.Control
			for num := range 2 {
				c, _ := portOf(t, s, n.Fabric.SwitchNode(0).Desc, 4+num)
				c.Phys = mad.PhysDisabled
				all = append(all, c)
			}
			c, _ := portOf(t, s, n.Fabric.SwitchNode(1).Desc, 4)
			c.Width = mad.Width1x
			all = append(all, c)
			return func(ctx context.Context) error {
				_, err := commits.Control(ctx, s, all, "test", opt)
				return err
			}
		}
		s := twin.Console()
		if err := disable(twin, s)(t.Context()); err != nil {
			t.Fatal(err)
		}
		after, before := twin.Held(), n.Held()
		s = n.Console()
		names := map[string]mad.Path{}
		for sw := range 2 {
			_, names[n.Fabric.SwitchNode(fabric.SwitchIndex(sw)).Desc] = portOf(t, s,
				n.Fabric.SwitchNode(fabric.SwitchIndex(sw)).Desc, 4)
		}
		portsBefore := heldPorts(t, s, names, n.Fabric)
		cause, at := causes[i%len(causes)], 1+rnd.IntN(3)
		err := n.cut(at, cause, disable(n, s))
		if err == nil { // a switch that refuses or lies does so for tables only
			whole++
			if n.Held() != after {
				t.Fatalf("%v at Set %d: the commit is complete, and the ports differ", cause, at)
			}
			_, _, err = commits.Rollback(t.Context(), n.Console(), 0, opt)
			now := heldPorts(t, n.Console(), names, n.Fabric)
			if err != nil || now != portsBefore || n.Held() != before {
				t.Fatalf("rolled back: %v, ports\n%s\nwant\n%s", err, now, portsBefore)
			}
			continue
		}
		if _, ok := errors.AsType[*commits.StoppedError](err); !ok && !unusable(cause) {
			t.Fatalf("%v at Set %d: %v", cause, at, err)
		}
		stopped[cause]++
		n.Leave()
		s = n.Console()
		expectOpen(t, s)
		want := before
		if rnd.IntN(2) == 0 {
			want = after
			_, err = commits.Resume(t.Context(), s, opt)
		} else {
			_, _, err = commits.Rollback(t.Context(), s, 0, opt)
		}
		if err != nil || n.Held() != want {
			t.Fatalf("%v at Set %d, then %v: the ports or tables differ", cause, at, err)
		}
		if want == after { // the resumed commit is undone with the PortInfo of before the first one
			if _, _, err = commits.Rollback(t.Context(), s, 0, opt); err != nil {
				t.Fatalf("%v at Set %d, resumed, rolled back: %v", cause, at, err)
			}
		}
		if now := heldPorts(t, s, names, n.Fabric); err != nil || now != portsBefore || n.Held() != before {
			t.Fatalf("%v at Set %d, rolled back: %v, ports\n%s\nwant\n%s", cause, at, err, now, portsBefore)
		}
		if st := n.Console().State(); st.Interrupted != "" {
			t.Fatalf("still interrupted: %s", st.Interrupted)
		}
	}
	t.Logf("stopped by %v; %d were complete", stopped, whole)
}

// TestResetBringsTheLinkUp resets a port of a subnet without a subnet manager. The link trains to Initialize, and the
// console brings it up again. A Set of Polling alone, as ibportstate sends it, leaves it in Initialize.
func TestResetBringsTheLinkUp(t *testing.T) {
	n := newSubnet(t, "fattree:2,6")
	before := n.Held()
	s := n.Console()
	reset, path := portOf(t, s, n.Fabric.SwitchNode(0).Desc, 5)
	reset.Phys, reset.Reset = mad.PhysPolling, true
	_, err := commits.Control(t.Context(), s, []write.Control{reset}, "", commits.Options{Confirmed: true})
	if !commits.Needs(err, commits.Interrupt) {
		t.Errorf("a reset that interrupts pairs: %v", err)
	}
	rep, err := commits.Control(t.Context(), s, []write.Control{reset}, "", yes)
	if err != nil || rep.Written.Written.States != 2 || len(rep.LinksDown) > 0 || n.Held() != before {
		t.Fatalf("%v, %+v, or the link is not up", err, rep.Written)
	}
	info, err := mad.Get[mad.PortInfo](t.Context(), s.Connection().Client(), path, 5)
	if err != nil {
		t.Fatal(err)
	}
	info.PortState, info.PhysState = mad.PortNoChange, mad.PhysPolling
	if _, err := mad.Set(t.Context(), s.Connection().Client(), path, 5, info); err != nil {
		t.Fatal(err)
	}
	info, err = mad.Get[mad.PortInfo](t.Context(), s.Connection().Client(), path, 5)
	if err != nil || info.PortState != mad.PortInit || info.PhysState != mad.PhysLinkUp {
		t.Errorf("after a Set of Polling the port is %v, %v (%v)", info.PortState, info.PhysState, err)
	}
}

// TestOwnPath refuses to take down the console's own link and the only link of the switch that it enters, without the
// option for this.
func TestOwnPath(t *testing.T) {
	n := newSubnet(t, "fattree:2,6")
	s := n.Console()
	f := s.State().Live.Fabric
	peer := f.Ports[f.SMPort].Peer
	for _, port := range []fabric.PortIndex{peer, f.SMPort} {
		c := write.Control{GUID: f.Nodes[f.Ports[port].Node].GUID, Num: f.Ports[port].Num, Phys: mad.PhysDisabled}
		opt := yes
		opt.AllowUnreachable = true
		rep, err := commits.Control(t.Context(), s, []write.Control{c}, "", opt)
		if !commits.Needs(err, commits.OwnPathDown) || rep.Written != nil {
			t.Errorf("%s: %v", f.PortName(port), err)
		}
	}
	c, _ := portOf(t, s, f.SwitchNode(0).Desc, 5)
	c.Phys = mad.PhysDisabled
	_, err := commits.Control(t.Context(), s, []write.Control{c}, "", yes)
	if !commits.Needs(err, commits.Unreachable) {
		t.Errorf("a link with traffic: %v", err)
	}
	if err := s.SetWrite(false); err != nil {
		t.Fatal(err)
	}
	opt := yes
	opt.AllowUnreachable = true
	if _, err := commits.Control(t.Context(), s, []write.Control{c}, "", opt); !errors.Is(err, session.ErrReadOnly) {
		t.Errorf("while writing is off: %v", err)
	}
}
