// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/walk"
)

func baseOf(t testing.TB, tables *fabric.Tables) *incremental.Base {
	t.Helper()
	base, err := incremental.NewBase(context.Background(), tables)
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func studyOf(t testing.TB, base *incremental.Base, kind Kind) *Study {
	t.Helper()
	s, err := New(context.Background(), base, kind)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func random(t testing.TB, r *rand.Rand) *fabric.Tables {
	f := treestest.Random(t, r)
	if r.IntN(2) == 0 {
		return treestest.Updn(t, f)
	}
	return treestest.Minhop(t, f)
}

// TestVerdictAsCheckedInFull compares the verdict on a failure with that of routing, checking and counting everything.
func TestVerdictAsCheckedInFull(t *testing.T) {
	r := testenv.Rand(t)
	split, overloaded, loops := 0, 0, map[Loop]int{}
	for i := range testenv.Count(t, 100, 3000) {
		tables := random(t, r)
		if i == 0 {
			tables = treestest.Minhop(t, treestest.Made(t, "mesh:2x2,links=40")) // more cables than a word has bits
		}
		// a what-if that is not routed has already lost paths
		if links := tables.Fabric.Links(); r.IntN(3) == 0 && len(links) > 0 {
			part := *tables
			part.Fabric = tables.Fabric.Without([]fabric.Link{links[r.IntN(len(links))]})
			tables = &part
		}
		base := baseOf(t, tables)
		kind := []Kind{Links, Switches, Pairs}[r.IntN(3)]
		s := studyOf(t, base, kind)
		if s.all.count() == 0 {
			continue
		}
		j := s.newJudge()
		for range 3 {
			n := r.IntN(s.all.count())
			v := j.simulate(t.Context(), n)
			want := inFull(t, s, n)
			v.at = 0
			if v != want {
				t.Fatalf("case %d, %s %d (%s): %+v, in full %+v", i, kind, n, s.all.name(n), v, want)
			}
			if v.Unreachable > 0 {
				split++
			}
			if v.Worst > s.report.Worst {
				overloaded++
			}
			loops[v.Loop]++
		}
	}
	t.Logf("%d make ports unreachable, %d overload a link; loops: %v", split, overloaded, loops)
	if split == 0 || overloaded == 0 || loops[HasLoop] == 0 || loops[NoLoop] == 0 {
		t.Error("want some of each")
	}
}

func inFull(t *testing.T, s *Study, n int) Verdict {
	t.Helper()
	was := s.base.Tables
	part := was.Fabric.Without(s.all.removed(n))
	res, err := incremental.Route(t.Context(), part, was, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	loads, err := linkload.AllToAll(t.Context(), res.Tables, linkload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := Verdict{Number: n, Lost: lostPaths(was, res.Tables), Changed: res.Touched}
	if n%s.prover.every == 0 {
		switch r, err := credits.Check(t.Context(), res.Tables, credits.Options{}); {
		case err != nil:
			t.Fatal(err)
		case r.Verdict == credits.None:
			v.Loop = NoLoop
		case r.Verdict == credits.Loop:
			v.Loop = HasLoop
		default:
			v.Loop = Unknown
		}
	}
	for _, e := range was.Fabric.EndPorts {
		p := &was.Fabric.Ports[e]
		if !was.Fabric.Nodes[p.Node].IsSwitch() && part.PortByGUID(p.GUID) == fabric.None {
			v.Unreachable++
		}
	}
	v.Worst = loads.Summary(1).EdgeForwardingIndex
	return v
}

// lostPaths counts the paths between hosts that arrive with one set of tables and not with the other, which has the
// same LIDs.
func lostPaths(was, is *fabric.Tables) (lost int64) {
	arrives := func(t *fabric.Tables, src fabric.PortIndex, lid uint16) bool {
		return walk.Trace(t, src, lid).Verdict.Arrives()
	}
	f := was.Fabric
	ends, _ := f.Ends(false)
	for _, src := range ends {
		for _, dst := range ends {
			for k := range uint16(1) << f.Ports[dst].LMC {
				lid := f.Ports[dst].LID + k
				if src == dst || f.Ports[dst].LID == 0 || !arrives(was, src, lid) {
					continue
				}
				if is.Fabric.PortByLID(lid) != dst || !arrives(is, src, lid) {
					lost++
				}
			}
		}
	}
	return lost
}

func run(t testing.TB, s *Study, shard, shards int) *Report {
	t.Helper()
	r, err := s.Empty(shard, shards)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), r, nil); err != nil || !r.Complete() {
		t.Fatal(r.Done, err)
	}
	return r
}

// forgetPlaces clears the fields that are not written.
func forgetPlaces(r *Report) *Report {
	for i := range r.Failed {
		r.Failed[i].at = 0
	}
	return r
}

// TestShardsAreTheWhole compares one run with shards of which one is stopped, written, read and continued.
func TestShardsAreTheWhole(t *testing.T) {
	s := studyOf(t, baseOf(t, treestest.Minhop(t, treestest.Made(t, "torus:4x4 hosts=2"))), Pairs)
	whole := forgetPlaces(run(t, s, 1, 1))
	if whole.Done != 32*31/2 {
		t.Fatalf("%d pairs of the 32 links of a 4x4 torus", whole.Done)
	}
	var shards []*Report
	for shard := 3; shard >= 1; shard-- {
		r, err := s.Empty(shard, 3)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := s.Run(ctx, r, nil); !errors.Is(err, context.Canceled) || r.Complete() {
			t.Fatalf("stopped: %d done, %v", r.Done, err)
		}
		for !r.Complete() {
			ctx, stop := context.WithCancel(t.Context())
			if err := s.Run(ctx, r, func(*Report) { stop() }); err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			stop()
			var b bytes.Buffer
			if err := r.Write(&b); err != nil {
				t.Fatal(err)
			}
			if r, err = Read(&b, "shard"); err != nil {
				t.Fatal(err)
			}
		}
		shards = append(shards, r)
	}
	all, missing, unfinished, err := Merge(shards)
	if err != nil || missing != nil || unfinished != nil {
		t.Fatal(missing, unfinished, err)
	}
	all.Shard, all.Shards = whole.Shard, whole.Shards
	if !reflect.DeepEqual(forgetPlaces(all), whole) {
		t.Errorf("merged %+v, in one run %+v", all, whole)
	}
	if _, missing, _, err = Merge(shards[:2]); err != nil || !reflect.DeepEqual(missing, []int{1}) {
		t.Errorf("missing %v, %v; want 1", missing, err)
	}
}

func TestMergeRefuses(t *testing.T) {
	base := baseOf(t, treestest.Minhop(t, treestest.Made(t, "fattree:2,4")))
	links := studyOf(t, base, Links)
	one, _ := links.Empty(1, 2)
	two, _ := links.Empty(2, 2)
	if _, _, unfinished, err := Merge([]*Report{one, two}); err != nil || !reflect.DeepEqual(unfinished, []int{1, 2}) {
		t.Errorf("unfinished %v, %v; want both", unfinished, err)
	}
	other := func(change func(*Report)) *Report {
		r := *two
		change(&r)
		return &r
	}
	for _, c := range []*Report{
		other(func(r *Report) { r.Fabric = "other" }), other(func(r *Report) { r.Routing = "other" }),
		other(func(r *Report) { r.Kind = Pairs }),
		other(func(r *Report) { r.Shards = 3 }), other(func(r *Report) { r.Failures++ }),
	} {
		if _, _, _, err := Merge([]*Report{one, c}); !errors.Is(err, ErrOther) {
			t.Errorf("%+v was merged: %v", c, err)
		}
		if r := *c; r.Shards == 2 {
			if err := links.Run(t.Context(), &r, nil); !errors.Is(err, ErrOther) {
				t.Errorf("%+v was continued: %v", c, err)
			}
		}
	}
	if _, _, _, err := Merge([]*Report{one, one}); err == nil {
		t.Error("a shard was accepted twice")
	}
}

// TestPairNumbers checks that every pair has one number.
func TestPairNumbers(t *testing.T) {
	n := 0
	for j := 1; j < 300; j++ {
		for i := range j {
			if a, b := pair(n); a != i || b != j {
				t.Fatalf("pair %d is %d and %d, want %d and %d", n, a, b, i, j)
			}
			n++
		}
	}
	if i, j := pair(23328*23327/2 - 1); i != 23326 || j != 23327 {
		t.Errorf("the last pair of 23328 is %d and %d", i, j)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(
		`{"kind":"links","fabric":"a","routing":"b","failures":3,"done":1,"shards":2,"shard":[1],"failed":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Read(bytes.NewReader(data), "fuzz")
		if err != nil {
			return
		}
		if all, missing, _, err := Merge([]*Report{r}); err != nil || len(missing)+len(all.Shard) != r.Shards &&
			r.Shards < 1000 {
			t.Errorf("%+v: %v", r, err)
		}
	})
}

// BenchmarkEveryLink simulates the failure of every link between the 1620 switches of a fat-tree, and reports its time
// relative to full routes: full-routes is the number of full routes that take as long, by-processor the same by
// processor time, which other work on the machine disturbs less.
func BenchmarkEveryLink(b *testing.B) {
	tables := treestest.Minhop(b, treestest.Made(b, "fattree:3,36"))
	s := studyOf(b, baseOf(b, tables), Links)
	var full, fullCPU time.Duration
	const each = 10
	routes := func() {
		start, cpu := time.Now(), processor(b)
		for range each {
			treestest.Minhop(b, tables.Fabric)
		}
		full += time.Since(start)
		fullCPU += processor(b) - cpu
	}
	var links, linksCPU time.Duration
	for b.Loop() {
		routes()
		start, cpu := time.Now(), processor(b)
		run(b, s, 1, 1)
		links += time.Since(start)
		linksCPU += processor(b) - cpu
		routes()
	}
	b.ReportMetric(links.Seconds()*1e6/float64(b.N*s.all.count()), "us/link")
	b.ReportMetric(full.Seconds()*1e3/float64(2*each*b.N), "full-ms")
	b.ReportMetric(float64(links)*2*each/float64(full), "full-routes")
	b.ReportMetric(float64(linksCPU)*2*each/float64(fullCPU), "by-processor")
}

// processor returns the processor time of this program.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestChecksum changes each byte of a report, truncates it, and removes its checksum.
func TestChecksum(t *testing.T) {
	var out bytes.Buffer
	r := Report{Kind: Links, Fabric: "f", Routing: "r", Failures: 2, Done: 2, Shards: 1, Shard: []int{1},
		Failed: []Verdict{{Name: "a/1 -- b/2", Lost: 3}}}
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if got, err := Read(strings.NewReader(text), "x"); err != nil || got.Unchecked || got.Failed[0] != r.Failed[0] {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range len(text) - 1 { // the last is a newline
		changed := []byte(text)
		changed[i] ^= 1
		if got, err := Read(bytes.NewReader(changed), "x"); err == nil && !got.Unchecked {
			t.Errorf("byte %d changed: %s is accepted", i, changed)
		}
		if _, err := Read(strings.NewReader(text[:i]), "x"); err == nil {
			t.Errorf("accepted although truncated after %d bytes", i)
		}
	}
	_, err := Read(strings.NewReader(strings.Replace(text, `"lost_paths":3`, `"lost_paths":0`, 1)), "x")
	if !errors.Is(err, ErrDamaged) || !strings.HasPrefix(err.Error(), "x: damaged or edited: the stored checksum is ") {
		t.Error(err)
	}
	old, _, _ := strings.Cut(text, checksum)
	if got, err := Read(strings.NewReader(old+"}"), "x"); err != nil || !got.Unchecked {
		t.Errorf("an old report: %+v, %v", got, err)
	}
	if _, err := Read(strings.NewReader(strings.Replace(old, "a/1", `a\n1`, 1)+"}"), "x"); err == nil {
		t.Error("a name with a newline is accepted")
	}
}
