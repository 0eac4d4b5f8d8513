// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

func ibsimOf(t testing.TB, f *fabric.Fabric) *ibsimtest.Sim {
	t.Helper()
	var text bytes.Buffer
	if err := gen.WriteNet(&text, f); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return ibsimtest.Start(t, file)
}

func dialIbsim(t testing.TB, s *ibsimtest.Sim) *mad.Client {
	t.Helper()
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	return client(t, transport, mad.ClientOptions{Window: 32})
}

// bringUp routes an ibsim that no subnet manager has configured.
func bringUp(t *testing.T, s *ibsimtest.Sim) *fabric.Tables {
	t.Helper()
	c := dialIbsim(t, s)
	live := full(t, c)
	want := route(t, live.Fabric)
	w := changes(live.Tables, want)
	rep, err := apply.Apply(t.Context(), c, live.Fabric, w, apply.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("written %v in %v with %d requests", rep.Written, rep.Elapsed, rep.Requests)
	after := full(t, c)
	sameTables(t, want, after.Tables)
	if more := changes(after.Tables, route(t, after.Fabric)); more.Len() != 0 {
		t.Fatalf("%d writes still to do: %+v", more.Len(), more)
	}
	return after.Tables
}

// TestBringUpIbsim brings up subnets that no subnet manager has configured, and then runs the real tools, which use
// LIDs.
func TestBringUpIbsim(t *testing.T) {
	for _, spec := range []string{"fattree:2,8", "torus:4x3x2,2", "dragonfly:4,2,2"} {
		t.Run(spec, func(t *testing.T) {
			s := ibsimOf(t, generate(t, spec))
			tables := bringUp(t, s)
			f := tables.Fabric
			rnd := testenv.Rand(t)
			for range testenv.Count(t, 20, 500) {
				src, dst := f.EndPorts[rnd.IntN(len(f.EndPorts))], f.EndPorts[rnd.IntN(len(f.EndPorts))]
				want := hops(tables, src, dst)
				got := s.Output("ibtracert", "-n", fmt.Sprint(f.Ports[src].LID), fmt.Sprint(f.Ports[dst].LID))
				if got != want {
					t.Fatalf("%s to %s: ibtracert prints\n%sexpected from the tables:\n%s", f.PortName(src),
						f.PortName(dst), got, want)
				}
			}
			for sw := range f.NumSwitches() {
				lid := f.SwitchLID(sw)
				same(t, "ibroute", entries(tables, sw), portLines(s.Output("ibroute", fmt.Sprint(lid))))
			}
			if out := s.Output("ibnetdiscover"); strings.Count(out, " lid ") < len(f.EndPorts) {
				t.Errorf("ibnetdiscover:\n%s", out)
			}
			if got := s.Output("smpquery", "portinfo", fmt.Sprint(f.MaxLID)); !strings.Contains(got,
				fmt.Sprintf("Lid:.............................%d\n", f.MaxLID)) {
				t.Errorf("smpquery portinfo %d:\n%s", f.MaxLID, got)
			}
		})
	}
}

// hops follows the tables and returns the output of ibtracert -n.
func hops(t *fabric.Tables, src, dst fabric.PortIndex) string {
	f := t.Fabric
	var b strings.Builder
	from := &f.Ports[src]
	to := &f.Ports[dst]
	fmt.Fprintf(&b, "From {0x%016x}[%d]\n", f.Nodes[from.Node].GUID, from.Num)
	at := src
	for at != dst {
		out := f.Ports[at].Num
		if sw := f.Nodes[f.Ports[at].Node].Switch; sw != fabric.None {
			out = t.Port(sw, to.LID)
		}
		if out == 0 { // the switch itself
			break
		}
		at = f.Ports[f.Port(f.Ports[at].Node, out)].Peer
		fmt.Fprintf(&b, "[%d] -> {0x%016x}[%d]\n", out, f.Ports[at].GUID, f.Ports[at].Num)
	}
	fmt.Fprintf(&b, "To {0x%016x}[%d]\n", f.Nodes[to.Node].GUID, to.Num)
	return b.String()
}

// entries returns the lines that ibroute prints for a switch: "0x0001 003". ibroute omits the last LID if LinearFDBTop
// is a multiple of 64.
func entries(t *fabric.Tables, sw fabric.SwitchIndex) []string {
	var lines []string
	top := int(t.Top[sw])
	for lid := range top + 1 {
		if lid == top && top%64 == 0 {
			break
		}
		if p := t.Port(sw, uint16(lid)); p <= t.Fabric.SwitchNode(sw).NumPorts {
			lines = append(lines, fmt.Sprintf("0x%04x %03d", lid, p))
		}
	}
	return lines
}

func portLines(out string) []string {
	var lines []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "0x") && len(line) > 10 {
			lines = append(lines, line[:10])
		}
	}
	return lines
}

func same(t *testing.T, what string, want, got []string) {
	t.Helper()
	if w, g := strings.Join(want, "\n"), strings.Join(got, "\n"); w != g {
		t.Errorf("%s:\n%s\nwant:\n%s", what, g, w)
	}
}

// TestSimulationForwardsAsIbsim gives ibsim and the simulation the same LIDs and tables and reads every LID from a
// host's port, before and after a cable is removed.
func TestSimulationForwardsAsIbsim(t *testing.T) {
	f := generate(t, "torus:4x3,2")
	s := ibsimOf(t, f)
	ours := sim.New(f, sim.Options{SendBack: true})
	tables := bringUp(t, s)
	c := client(t, open(t, ours, f.SMPort), mad.ClientOptions{})
	live := full(t, c)
	if _, err := apply.Apply(t.Context(), c, live.Fabric, changes(live.Tables, route(t, live.Fabric)),
		apply.Options{}); err != nil {
		t.Fatal(err)
	}
	host := f.NodesByDescription("node-0011 HCA-1")[0]
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name, Node: "node-0011"})
	if err != nil {
		t.Fatal(err)
	}
	once := mad.ClientOptions{Timeout: time.Minute, Tries: 1}
	theirs, here := client(t, transport, once), client(t, open(t, ours, f.Port(host, 1)), once)
	compare := func() (reached int) {
		for lid := range tables.Fabric.MaxLID + 2 {
			req := mad.Request{Attr: mad.AttrNodeInfo, LID: lid}
			if lid == 0 {
				continue
			}
			a, errA := theirs.Do(t.Context(), &req)
			b, errB := here.Do(t.Context(), &req)
			if (errA == nil) != (errB == nil) {
				t.Fatalf("LID %d: ibsim: %v, simulated: %v", lid, errA, errB)
			}
			const offLocalPort = 36 // 0 in ibsim if a request reaches a switch by LID
			a[offLocalPort], b[offLocalPort] = 0, 0
			if errA == nil && a != b {
				t.Fatalf("LID %d: ibsim %x, simulated %x", lid, a, b)
			}
			if errA == nil {
				reached++
			}
		}
		return reached
	}
	if n := compare(); n != len(tables.Fabric.EndPorts) {
		t.Errorf("%d LIDs answer, want %d", n, len(tables.Fabric.EndPorts))
	}
	cable := f.Port(f.NodesByDescription("sw-1-1")[0], 3)
	s.Console(`Unlink "sw-1-1"[3]`)
	if err := ours.Unlink(cable); err != nil {
		t.Fatal(err)
	}
	if n := compare(); n == 0 || n >= len(tables.Fabric.EndPorts) {
		t.Errorf("%d of %d LIDs answer without %s", n, len(tables.Fabric.EndPorts), f.PortName(cable))
	}
}

// BenchmarkIbsim sweeps and writes the fat-tree of 11,664 hosts and 1,620 switches over a real ibsim: bringing it up, a
// sweep with 336,960 blocks, and writing the same blocks again.
func BenchmarkIbsim(b *testing.B) {
	s := ibsimOf(b, generate(b, "fattree:3,36"))
	c := dialIbsim(b, s)
	live := full(b, c)
	want := route(b, live.Fabric)
	for b.Loop() {
		w := changes(live.Tables, want)
		rep, err := apply.Apply(b.Context(), c, live.Fabric, w, apply.Options{})
		if err != nil {
			b.Fatal(err)
		}
		after := full(b, c)
		b.ReportMetric(float64(rep.Requests)/rep.Elapsed.Seconds(), "written/s")
		b.ReportMetric(rep.Elapsed.Seconds(), "s-apply")
		b.ReportMetric(after.Stats.PerSecond(), "swept/s")
		b.ReportMetric(after.Stats.Elapsed.Seconds(), "s-sweep")
	}
}
