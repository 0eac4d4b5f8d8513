// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/engines/minhop"
)

func read(t *testing.T, c *mad.Client) *fabric.Tables {
	t.Helper()
	res, err := sweep.Full(context.Background(), c, sweep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}

func staged(t *testing.T, f *fabric.Fabric) *fabric.Tables {
	t.Helper()
	f, err := fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Tables
}

func made(t *testing.T, live, staged *fabric.Tables) *plan.Plan {
	t.Helper()
	p, err := plan.Make(t.Context(), live, staged)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPlanOfARunningSubnet reads, routes and writes a subnet that was never up, and reads it again. Nothing is left to
// write.
func TestPlanOfARunningSubnet(t *testing.T) {
	for _, spec := range []string{"fattree:2,8", "torus:3x3x2 hosts=5 links=2"} {
		t.Run(spec, func(t *testing.T) {
			f, err := gen.ParseSpec(spec)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := sim.New(f, sim.Options{}).Open(f.SMPort)
			if err != nil {
				t.Fatal(err)
			}
			c := client(t, conn)
			live := read(t, c)
			want := staged(t, live.Fabric)
			p := made(t, live, want)
			if _, err := apply.Apply(context.Background(), c, live.Fabric, &p.List, apply.Options{}); err != nil {
				t.Fatal(err)
			}
			after := read(t, c)
			if again := made(t, after, want); !again.Empty() {
				t.Errorf("still to write: %+v", again.Totals())
			}
		})
	}
}

// TestNothingToWriteAfterOpenSM expects no writes after OpenSM, which writes the same min-hop tables.
func TestNothingToWriteAfterOpenSM(t *testing.T) {
	nets := map[string]string{
		"fattree:3,4":               generated(t, "fattree:3,4"),
		"torus:4x3 hosts=6 links=2": generated(t, "torus:4x3 hosts=6 links=2"),
	}
	for name, net := range nets {
		t.Run(name, func(t *testing.T) { nothingToWrite(t, net) })
	}
	t.Run("real-qdr-11sw.topo", func(t *testing.T) {
		nothingToWrite(t, testenv.SharedFile(t, "fabrics/real-qdr-11sw.topo"))
	})
}

func nothingToWrite(t *testing.T, net string) {
	t.Helper()
	s := ibsimtest.Start(t, net)
	ibsimtest.OpenSM(t, s, "-R", "minhop")
	conn, err := ibsim.Dial(context.Background(), ibsim.Options{Name: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	live := read(t, client(t, conn))
	if p := made(t, live, staged(t, live.Fabric)); !p.Empty() || len(p.Warnings)+len(p.Unreachable)+len(p.Unread) > 0 {
		t.Errorf("to write: %+v, warnings %q", p.Totals(), p.Warnings)
	}
}

func client(t *testing.T, conn mad.Transport) *mad.Client {
	t.Helper()
	c, err := mad.NewClient(conn, mad.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func generated(t *testing.T, spec string) string {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := gen.WriteNet(&text, f); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// interrupted is a transport that loses all packets after a number of Sets of forwarding tables, as if the program was
// killed.
type interrupted struct {
	mad.Transport
	left   int
	cancel context.CancelFunc
}

func (i *interrupted) Send(f *mad.Frame) error {
	var smp mad.SMP
	if err := smp.UnmarshalBinary(f.Data[:]); err != nil {
		return err
	}
	if smp.Method == mad.MethodSet && smp.Attr == mad.AttrLinearForwardingTable {
		if i.left--; i.left < 0 {
			i.cancel()
			return nil // lost
		}
	}
	return i.Transport.Send(f)
}

func readOnce(t *testing.T, conn mad.Transport) *fabric.Tables {
	t.Helper()
	c, err := mad.NewClient(conn, mad.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	return read(t, c)
}

// change commits another routing to a running subnet with random interruptions. dial opens the subnet.
func change(t *testing.T, rnd *rand.Rand, dial func() mad.Transport, want *fabric.Tables) (stops int) {
	t.Helper()
	live := readOnce(t, dial())
	p := made(t, live, want)
	r := newReplay(t, live)
	r.expect(p)
	for {
		now := readOnce(t, dial())
		for s := range now.Fabric.NumSwitches() {
			copy(r.lft[s], now.LFT.Row(s))
		}
		r.check(0, allLIDs, fmt.Sprintf("%d stops", stops))
		p := made(t, now, want)
		if p.Empty() {
			return stops
		}
		ctx, cancel := context.WithCancel(t.Context())
		conn := &interrupted{Transport: dial(), left: rnd.IntN(len(p.Blocks) + 1), cancel: cancel}
		if stops == 0 {
			conn.left = len(p.Blocks) / 2
		}
		c, err := mad.NewClient(conn, mad.ClientOptions{
			Window: 1 + rnd.IntN(16), Timeout: 50 * time.Millisecond, Tries: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = apply.Apply(ctx, c, now.Fabric, &p.List, apply.Options{}); errors.Is(err, context.Canceled) ||
			errors.Is(err, mad.ErrTimeout) {
			stops++
		} else if err != nil {
			t.Fatal(err)
		}
		cancel()
		_ = c.Close()
	}
}

// TestInterruptedChanges changes routings of running subnets and interrupts them at random points. No pair may be
// interrupted. Each time a new plan continues from there.
func TestInterruptedChanges(t *testing.T) {
	rnd := testenv.Rand(t)
	specs := []string{"torus:4x3 hosts=2", "fattree:2,8", "mesh:3x3 hosts=1", "fattree:3,4", "random:8,4,12"}
	stops := 0
	for i := range testenv.Count(t, 10, 200) {
		f, err := gen.ParseSpec(specs[i%len(specs)])
		if err != nil {
			t.Fatal(err)
		}
		subnet := sim.New(f, sim.Options{})
		stops += changes(t, rnd, func() mad.Transport {
			conn, err := subnet.Open(f.SMPort)
			if err != nil {
				t.Fatal(err)
			}
			return conn
		})
	}
	if stops == 0 {
		t.Error("nothing was interrupted")
	}
	t.Logf("%d interruptions", stops)
}

// changes brings a subnet up and changes its routing twice.
func changes(t *testing.T, rnd *rand.Rand, dial func() mad.Transport) (stops int) {
	t.Helper()
	raw := readOnce(t, dial())
	first := staged(t, raw.Fabric)
	c := client(t, dial())
	if _, err := apply.Apply(t.Context(), c, raw.Fabric, &made(t, raw, first).List, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	_, second := someRoutes(t, rnd, first.Fabric)
	stops = change(t, rnd, dial, second)
	return stops + change(t, rnd, dial, randomTrees(rnd, first.Fabric))
}

// TestInterruptedChangesOfIbsim is the same with the real ibsim.
func TestInterruptedChangesOfIbsim(t *testing.T) {
	s := ibsimtest.Start(t, generated(t, "torus:4x3 hosts=2"))
	stops := changes(t, testenv.Rand(t), func() mad.Transport {
		conn, err := ibsim.Dial(context.Background(), ibsim.Options{Name: s.Name})
		if err != nil {
			t.Fatal(err)
		}
		return conn
	})
	if stops < 2 {
		t.Errorf("%d interruptions", stops)
	}
}
