// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/minhop"
	"example.org/ibconsole/routing/plan"
)

// writes are a plan in the words of package apply.
func writes(p *plan.Plan) *apply.Writes {
	w := &apply.Writes{}
	for _, l := range p.LIDs {
		w.LIDs = append(w.LIDs, apply.LID{Port: l.Port, LID: l.New, SMLID: l.NewSM, LMC: l.NewLMC})
	}
	for _, t := range p.Tops {
		w.Tops = append(w.Tops, apply.Top{Switch: t.Switch, Top: t.New, Last: t.Falls()})
	}
	for _, b := range p.Blocks {
		w.Blocks = append(w.Blocks, apply.Block{Switch: b.Switch, Num: b.Num, Step: b.Step, Ports: *b.New})
	}
	for _, s := range p.States {
		w.States = append(w.States, apply.State{Port: s.Port, State: s.New})
	}
	return w
}

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

// A subnet that was never up is read, routed, written and read again: there is
// nothing left to write.
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
			if _, err := apply.Apply(context.Background(), c, live.Fabric, writes(p), apply.Options{}); err != nil {
				t.Fatal(err)
			}
			after := read(t, c)
			if again := made(t, after, want); !again.Empty() {
				t.Errorf("still to write: %+v", again.Totals())
			}
			back := made(t, after, want).Reverse()
			if !back.Empty() {
				t.Errorf("to take back: %+v", back.Totals())
			}
		})
	}
}

// What OpenSM wrote is what min-hop computes, so there is nothing to write after it.
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
	if p := made(t, live, staged(t, live.Fabric)); !p.Empty() || len(p.Warnings)+len(p.CutOff)+len(p.Unread) > 0 {
		var text bytes.Buffer
		_ = p.Text(&text)
		t.Errorf("to write:\n%s", text.String())
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
