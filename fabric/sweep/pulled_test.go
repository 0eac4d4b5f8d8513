// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// striker is a transport to an ibsim that calls strike when some packets have been sent.
type striker struct {
	*ibsim.Transport
	left   atomic.Int64
	strike func()
	struck sync.WaitGroup
}

// Send implements [mad.Transport].
func (s *striker) Send(f *mad.Frame) error {
	s.count()
	return s.Transport.Send(f)
}

// Hold implements [mad.Holder].
func (s *striker) Hold(f *mad.Frame) error {
	s.count()
	return s.Transport.Hold(f)
}

func (s *striker) count() {
	if s.left.Add(-1) == 0 {
		s.struck.Go(s.strike)
	}
}

// struck sweeps an ibsim and calls strike, concurrently, at the packet with the given number.
func struck(t *testing.T, s *ibsimtest.Sim, packet int, window int, strike func(),
	sweep func(*mad.Client) *sweep.Result) *sweep.Result {
	t.Helper()
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	st := &striker{Transport: transport, strike: strike}
	st.left.Store(int64(packet))
	c, err := mad.NewClient(st, mad.ClientOptions{Window: window, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	res := sweep(c)
	st.struck.Wait()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if st.left.Load() > 0 {
		t.Logf("the sweep ended before packet %d", packet)
		strike()
	}
	return res
}

// TestSwitchPulledFromIbsim removes all cables of a switch during the sweep, or restores them, at once or one by one,
// while some switches also lose packets.
func TestSwitchPulledFromIbsim(t *testing.T) {
	rnd := testenv.Rand(t)
	s := ibsimOf(t, generate(t, "fattree:3,8"))
	ibsimtest.OpenSM(t, s)
	quiet := dialIbsim(t, s)
	whole := full(t, quiet, sweep.Options{})
	clean(t, whole)
	f := whole.Fabric
	lossy := func(percent int) {
		for i := 3; i < len(f.Switches); i += 9 {
			s.Console(fmt.Sprintf("Error %q %d", f.Nodes[f.Switches[i]].Desc, percent))
		}
	}
	rounds := testenv.Count(t, 7, 300)
	for round := range rounds {
		sw := f.Switches[rnd.IntN(len(f.Switches))]
		comes := round%4 == 3 && f.PeerNode(f.SMPort) != sw
		light, atOnce := round%3 == 2, rnd.IntN(2) == 0
		move := func(what string) {
			if atOnce {
				s.Console(fmt.Sprintf("%s %q", what, f.Nodes[sw].Desc))
				return
			}
			n := &f.Nodes[sw]
			for p := range n.Ports() {
				if f.Ports[p].Linked() {
					s.Console(fmt.Sprintf("%s %q[%d]", what, n.Desc, f.Ports[p].Num))
				}
			}
		}
		before, moves := whole.Fabric, "Unlink"
		if comes {
			move("Unlink")
			moves = "ReLink"
			before = full(t, quiet, sweep.Options{NoTables: true}).Fabric
		}
		lossy([]int{0, 1, 10}[rnd.IntN(3)])
		requests := whole.Stats.Requests
		if light {
			requests = len(f.Switches)*11 + len(f.Nodes)
		}
		at := 1 + (requests-1)*round/rounds
		res := struck(t, s, at, 4+rnd.IntN(29), func() { move(moves) }, func(c *mad.Client) *sweep.Result {
			if light {
				return lightly(t, c, before)
			}
			res, err := sweep.Full(t.Context(), c, sweep.Options{})
			if err != nil && !(errors.Is(err, mad.ErrUnplugged) && f.PeerNode(f.SMPort) == sw) {
				t.Fatal(err)
			}
			return res
		})
		lossy(0)
		if res != nil {
			plausible(t, f, whole.Tables, res)
			reported(t, f, res)
		}

		after := full(t, quiet, sweep.Options{})
		clean(t, after)
		want := f
		if !comes {
			want = without(f, sw)
		}
		if f.PeerNode(f.SMPort) == sw { // and it remains unreachable
			want = after.Fabric
			if len(want.Nodes) != 1 {
				t.Errorf("%d nodes behind a port that is down", len(want.Nodes))
			}
		}
		same(t, "what is left", cables(want), cables(after.Fabric))
		alike(t, after, lightly(t, quiet, before))
		if res != nil {
			alike(t, after, lightly(t, quiet, res.Fabric))
		}
		if t.Failed() {
			t.Fatalf("round %d: %s of %s at packet %d of %d, light: %v, at once: %v; unanswered %v; warnings %s", round,
				moves, f.NodeName(sw), at, requests, light, atOnce,
				res.Unanswered, strings.Join(res.Warnings, "\n"))
		}
		if !comes {
			move("ReLink")
		}
	}
}

func lightly(t *testing.T, c *mad.Client, previous *fabric.Fabric) *sweep.Result {
	t.Helper()
	return light(t, c, previous, sweep.LightOptions{})
}

// without returns a fabric without the links of a node.
func without(f *fabric.Fabric, node fabric.NodeIndex) *fabric.Fabric {
	var cut []fabric.Link
	for _, l := range f.Links() {
		if f.Ports[l.A].Node == node || f.Ports[l.B].Node == node {
			cut = append(cut, l)
		}
	}
	return f.Without(cut)
}

// reported checks that each switch with unknown tables has an unanswered request.
func reported(t *testing.T, f *fabric.Fabric, res *sweep.Result) {
	t.Helper()
	named := map[uint64]bool{}
	for _, h := range res.Unanswered {
		named[h.GUID] = true
	}
	for sw, n := range res.Fabric.Switches {
		if guid := res.Fabric.Nodes[n].GUID; res.Tables != nil && res.Fabric.Nodes[n].InSubnet &&
			!res.Tables.Known[sw] && !named[guid] {
			t.Errorf("the tables of %s are unknown, which is not reported", res.Fabric.NodeName(n))
		}
	}
}
