// SPDX-License-Identifier: Apache-2.0

package torus_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/engines/torus"
)

// drawn is a torus that torus-2QoS(8) draws, with its letters.
type drawn struct {
	*cabled
	conf    *osm.TorusConf
	letters map[string]torus.Coordinates
}

// draw cables a torus of two dimensions with one host on each switch.
func draw(t *testing.T, x, y int, letters map[string]torus.Coordinates) *drawn {
	t.Helper()
	c := cable(t, rand.New(rand.NewPCG(1, 1)), shape{radix: [3]int{x, y, 1}, links: [3]int{1, 1, 1}, hosts: 1})
	c.build()
	return &drawn{c, c.config(torus.Coordinates{}, torus.Coordinates{}, torus.Coordinates{4, 3}), letters}
}

// drawSix5 is the 6 x 5 torus, drawTR the 6 x 6 one with T and R, drawOT that with O and T.
func drawSix5(t *testing.T) *drawn { return draw(t, 6, 5, letters) }

func drawTR(t *testing.T) *drawn {
	return draw(t, 6, 6, map[string]torus.Coordinates{
		"m": {0, 1}, "S": {1, 1}, "n": {2, 1}, "T": {3, 1}, "o": {4, 1}, "p": {5, 1}, "q": {2, 2}, "R": {3, 2},
		"I": {2, 3}, "u": {3, 3}, "D": {3, 4},
	})
}

func drawOT(t *testing.T) *drawn {
	return draw(t, 6, 6, map[string]torus.Coordinates{
		"m": {0, 1}, "S": {1, 1}, "n": {2, 1}, "O": {3, 1}, "T": {4, 1}, "p": {5, 1}, "I": {2, 2}, "q": {3, 2},
		"r": {4, 2}, "D": {4, 3},
	})
}

// lose returns the torus without the links between two letters, or without a letter's switch if both are the same: "nT
// To", "TT".
func (d *drawn) lose(lost string) *fabric.Fabric {
	d.t.Helper()
	f := d.f
	for pair := range strings.FieldsSeq(lost) {
		f = d.without(f, d.letters[pair[:1]], d.letters[pair[1:]])
	}
	return assign(d.t, f)
}

func (d *drawn) host(f *fabric.Fabric, letter string) uint16 {
	return f.Ports[d.f.Ports[d.f.Port(d.at[d.letters[letter]], 1)].Peer].LID
}

// path returns the path from the host of S to that of D, and the VL on which each switch sends to the next, by the
// letters of both.
func (d *drawn) path(res *routing.Result) (path string, vls map[string]uint8) {
	d.t.Helper()
	f := res.Tables.Fabric
	names := map[fabric.NodeIndex]string{}
	for l, at := range d.letters {
		names[d.at[at]] = l
	}
	src, dst := d.host(f, "S"), d.host(f, "D")
	sl, in := res.Tables.SLs.SL(src, dst), uint8(1)
	vls = map[string]uint8{}
	for at := d.at[d.letters["S"]]; ; {
		path += names[at]
		out := res.Tables.Port(f.Nodes[at].Switch, dst)
		if out == fabric.NoPath || len(path) > 36 {
			d.t.Fatalf("the path from S to D ends after %s", path)
		}
		far := f.Ports[f.Port(at, out)].Peer
		next := f.Ports[far].Node
		if !f.Nodes[next].IsSwitch() {
			return path, vls
		}
		vls[names[at]+names[next]] = res.Tables.SL2VL.VL(at, in, out, sl)
		at, in = next, f.Ports[far].Num
	}
}

// proved routes, and fails if there are credit loops.
func (d *drawn) proved(f *fabric.Fabric, e torus.Engine) *routing.Result {
	d.t.Helper()
	e.Conf = d.conf
	res, err := e.Route(d.t.Context(), f, routing.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	free(d.t, "the document's torus", res.Tables)
	return res
}

// free fails if tables have a credit loop.
func free(t *testing.T, what string, tables *fabric.Tables) {
	t.Helper()
	if r, err := credits.Check(t.Context(), tables, credits.Options{}); err != nil || r.Ring != nil {
		t.Fatalf("%s: credit loop %v, %v", what, r, err)
	}
}

// complete fails if a pair of the remaining hosts is unreachable.
func complete(t *testing.T, what string, tables *fabric.Tables) {
	t.Helper()
	// No path leads to and from the end ports of switches that failed.
	if r, err := reach.Check(t.Context(), tables, reach.Options{}); err != nil || r.Delivered+
		r.UnlistedPaths != r.Paths {
		t.Fatalf("%s: %d of %d paths arrive, %v", what, r.Delivered, r.Paths, err)
	}
}

func (d *drawn) want(res *routing.Result, want string) map[string]uint8 {
	d.t.Helper()
	got, vls := d.path(res)
	if got != want {
		d.t.Errorf("S to D goes %s, want %s", got, want)
	}
	return vls
}

func TestDocumentPristine(t *testing.T) {
	d := drawSix5(t)
	d.want(d.proved(d.lose(""), torus.Engine{}), "SnTrD")
}

// Failed links: packets take the longer path around the ring, with the same SLs as before.
func TestDocumentLinkSnFailed(t *testing.T) { testLongerPath(t, "Sn") }
func TestDocumentLinkNTFailed(t *testing.T) { testLongerPath(t, "nT") }

func testLongerPath(t *testing.T, lost string) {
	d := drawSix5(t)
	before := d.proved(d.lose(""), torus.Engine{}).Tables
	after := d.proved(d.lose(lost), torus.Engine{})
	d.want(after, "SmpoTrD")
	for src := range before.Fabric.MaxLID + 1 {
		for dst := range before.Fabric.MaxLID + 1 {
			if was, is := before.SLs.SL(src, dst), after.Tables.SLs.SL(src, dst); was != is {
				t.Errorf("the service level from LID %d to %d was %d, is %d", src, dst, was, is)
			}
		}
	}
}

func TestDocumentSwitchTFailed(t *testing.T) {
	d := drawSix5(t)
	vls := d.want(d.proved(d.lose("TT"), torus.Engine{}), "SnIrD")
	turned(t, vls, "Ir")
}

// turned checks that bit 1 of the VL is set on the hop after the turn against the order of dimensions, and on no other.
func turned(t *testing.T, vls map[string]uint8, hop string) {
	t.Helper()
	for h, vl := range vls {
		if (vl&2 != 0) != (h == hop) {
			t.Errorf("hop %s uses VL %d", h, vl)
		}
	}
}

// The document says that a ring in two pieces is refused; OpenSM 3.3.23 treats T as a failed switch.
func TestDocumentRingInTwoPieces(t *testing.T) {
	d := drawSix5(t)
	for _, strict := range []bool{false, true} {
		res := d.proved(d.lose("nT To"), torus.Engine{Strict: strict})
		d.want(res, "SnIrD")
		if all := strings.Join(res.Warnings, "\n"); !strings.Contains(all,
			"belongs at 3,1,0 and has no links along x") || !strings.Contains(all, "requires this to be refused") {
			t.Errorf("warnings %q do not mention that the document requires a refusal", all)
		}
	}
}

func TestDocumentSwitchesTAndRFailed(t *testing.T) {
	d := drawTR(t)
	f := d.lose("TT RR")
	res := d.proved(f, torus.Engine{})
	complete(t, "without T and R", res.Tables)
	vls := d.want(res, "SnqIuD")
	turned(t, vls, "Iu")
	if all := strings.Join(res.Warnings, "\n"); !strings.Contains(all, "OpenSM 3.3.23 would not route this") ||
		!strings.Contains(all, "proved free of credit loops") {
		t.Errorf("warnings %q do not mention that OpenSM refuses", all)
	}
	if _, err := (torus.Engine{Conf: d.conf, Strict: true}).Route(t.Context(), f, routing.Options{}); err == nil ||
		!strings.Contains(err.Error(), "ERR 4E38") {
		t.Errorf("strict: %v, want that it refuses as OpenSM does", err)
	}
}

// With two VLs the turn shares them with the other paths, and there is a loop.
func TestDocumentTAndRNeedFourVLs(t *testing.T) {
	d := drawTR(t)
	_, err := torus.Engine{Conf: d.conf}.Route(t.Context(), d.lose("TT RR"), routing.Options{MaxOpVLs: 2})
	if err == nil || !strings.Contains(err.Error(), "have a credit loop of") {
		t.Errorf("%v, want that the credit loop is found", err)
	}
}

func TestDocumentSwitchesOAndTFailed(t *testing.T) {
	d := drawOT(t)
	d.want(d.proved(d.lose(""), torus.Engine{}), "SnOTrD")
	_, err := torus.Engine{Conf: d.conf}.Route(t.Context(), d.lose("OO TT"), routing.Options{})
	if err == nil || !strings.Contains(err.Error(), "3,1,0; 4,1,0 could deadlock, as these are not consecutive "+
		"along y") {
		t.Errorf("%v, want that O and T are refused", err)
	}
}

// TestMissingRuns checks that runs of missing switches along the last dimension of tori and meshes of two dimensions,
// whichever these are, leave no credit loop and all other hosts connected.
func TestMissingRuns(t *testing.T) {
	r := testenv.Rand(t)
	routed, beyond := 0, 0
	for range testenv.Count(t, 60, 1000) {
		s := shape{radix: [3]int{1, 1, 1}, links: [3]int{1, 1, 1}, hosts: 1, shuffled: r.IntN(2) == 0}
		a := r.IntN(3)
		b := (a + 1 + r.IntN(2)) % 3
		s.radix[a], s.radix[b] = 3+r.IntN(5), 3+r.IntN(5)
		s.open[a] = r.IntN(4) == 0
		c := cable(t, r, s)
		f := c.build()
		at := c.random(r)
		what := fmt.Sprintf("%v open %v without", s.radix, s.open)
		for range 2 + r.IntN(3) {
			if c.at[at] != f.PeerNode(f.SMPort) {
				f = c.without(f, at, at)
				what += fmt.Sprintf(" %v", at)
			}
			at[max(a, b)] = (at[max(a, b)] + 1) % s.radix[max(a, b)]
		}
		res, err := torus.Engine{
			Conf: c.config(torus.Coordinates{}, c.random(r), c.random(r), c.random(r), c.random(r)),
		}.Route(context.Background(), assign(t, f), routing.Options{})
		if err != nil {
			t.Logf("%s: %v", what, err)
			continue
		}
		routed++
		warnings := strings.Join(res.Warnings, "\n")
		if strings.Contains(warnings, "would not route this") {
			beyond++
		}
		free(t, what, res.Tables)
		if !strings.Contains(warnings, " not part of the torus") {
			complete(t, what, res.Tables)
		}
	}
	t.Logf("%d routed, %d of them beyond OpenSM", routed, beyond)
	if beyond < 5 {
		t.Errorf("only %d fabrics were routed, %d beyond OpenSM", routed, beyond)
	}
}
