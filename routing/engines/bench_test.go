// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/torus"
)

// withOpenSM is the variable that makes the benchmarks run OpenSM, too.
const withOpenSM = "IBCONSOLE_BENCH_OPENSM"

// benched is a fabric for measurements.
type benched struct {
	spec string
	// minutes are the engines with which OpenSM takes a minute or more, hours those with which it takes hours.
	minutes, hours []string
}

// benchedFabrics are ordered by the time that OpenSM takes.
func benchedFabrics() []benched {
	return []benched{
		{spec: "fattree:2,36"},
		{spec: "random:60,6,180"},
		{spec: "hypercube:6,hosts=4"},
		{spec: "dragonfly:8,4,4"},
		{spec: "torus:8x8x8"},
		{spec: "random:300,12,1500", minutes: []string{"lash"}},
		{spec: "hypercube:9,hosts=4", minutes: []string{"lash", "dfsssp"}},
		{spec: "torus:10x10x10,hosts=4", minutes: []string{"nue"}, hours: []string{"dfsssp", "lash"}},
		{spec: "fattree:3,36", minutes: []string{"minhop", "updn", "dnup", "dor", "ftree", "sssp", "dfsssp"},
			hours: []string{"lash", "nue"}},
	}
}

// BenchmarkRoute measures every engine. With IBCONSOLE_BENCH_OPENSM=1 an OpenSM routes the same fabric over ibsim, and
// these are reported, too:
//
//	opensm-s    its routing phase by the times in its log: from the choice of the engine until the tables are on all
//	            switches, or until the choice of the next engine
//	ratio       that time divided by ours
//	refused     1 if the engine refuses the fabric after it has looked for VLs
func BenchmarkRoute(b *testing.B) {
	benchAll(b, func(f benched, engine string) bool { return !slices.Contains(append(f.minutes, f.hours...), engine) })
}

// BenchmarkLongRoute is [BenchmarkRoute] for the cases in which OpenSM takes a minute or more.
func BenchmarkLongRoute(b *testing.B) {
	benchAll(b, func(f benched, engine string) bool { return slices.Contains(f.minutes, engine) })
}

func benchAll(b *testing.B, wanted func(f benched, engine string) bool) {
	for _, on := range benchedFabrics() {
		var f *fabric.Fabric
		for _, engine := range engines.All() {
			if !wanted(on, engine.Name()) {
				continue
			}
			b.Run(on.spec+"/"+engine.Name(), func(b *testing.B) {
				if f == nil {
					f = gentest.WithLIDs(b, on.spec)
				}
				benchRoute(b, f, engine)
			})
		}
	}
}

// BenchmarkCopy measures how fast this machine copies a table of 64 MB, which is a lower limit for all engines.
func BenchmarkCopy(b *testing.B) {
	from, to := make([]byte, 64<<20), make([]byte, 64<<20)
	copy(to, from)
	b.SetBytes(int64(len(from)))
	for b.Loop() {
		copy(to, from)
	}
}

// BenchmarkLimit measures engines with all addresses in use: 4032 switches and 41,472 hosts, 183 million entries. The
// distances of sssp and dfsssp do not suffice for that; they are measured with 20,000 LIDs. OpenSM does not run.
func BenchmarkLimit(b *testing.B) {
	for _, at := range []struct {
		spec    string
		engines []string
	}{
		{"xgft:3,24,24,72,1,24,24", []string{"minhop", "updn", "dnup", "dor", "ftree"}},
		{"xgft:3,18,18,54,1,18,18", []string{"sssp", "dfsssp"}},
	} {
		var f *fabric.Fabric
		for _, name := range at.engines {
			b.Run(at.spec+"/"+name, func(b *testing.B) {
				if f == nil {
					f = gentest.WithLIDs(b, at.spec)
				}
				engine, err := engines.ByName(name)
				if err != nil {
					b.Fatal(err)
				}
				benchOurs(b, f, engine, routing.Options{}, false)
			})
		}
	}
}

// benchRoute measures one engine, or how soon it refuses after it has looked for VLs.
func benchRoute(b *testing.B, f *fabric.Fabric, engine routing.Engine) {
	opt := routing.Options{}
	if engine.Name() == torus.Name {
		conf, err := torus.Recognise(b.Context(), f)
		if err != nil {
			b.Skip(err)
		}
		engine = torus.Engine{Conf: conf}
	}
	_, err := engine.Route(b.Context(), f, opt)
	if err != nil && engine.Name() == "updn" {
		opt.RootGUIDs = farthest(f)
		_, err = engine.Route(b.Context(), f, opt)
	}
	refused := err != nil
	if refused && engine.Name() != "dfsssp" && engine.Name() != "lash" {
		b.Skip(err)
	}
	ours := benchOurs(b, f, engine, opt, refused)
	if refused {
		b.ReportMetric(1, "refused")
	}
	if os.Getenv(withOpenSM) != "1" {
		return
	}
	took := opensmPhase(b, f, engine, opt.RootGUIDs, refused)
	b.ReportMetric(took.Seconds(), "opensm-s")
	b.ReportMetric(took.Seconds()/ours, "ratio")
}

// benchOurs measures one engine of ours and returns its time in seconds.
func benchOurs(b *testing.B, f *fabric.Fabric, engine routing.Engine, opt routing.Options, refused bool) float64 {
	start := time.Now()
	runs := 0
	for b.Loop() {
		if _, err := engine.Route(b.Context(), f, opt); (err != nil) != refused {
			b.Fatal(err)
		}
		runs++
	}
	b.ReportMetric(float64(len(f.Switches)*int(f.MaxLID)), "entries")
	return time.Since(start).Seconds() / float64(runs)
}

// farthest returns the node GUIDs of the switches that are farthest from all hosts: roots for a fabric in which updn
// finds none.
func farthest(f *fabric.Fabric) []uint64 {
	dist := make([]int, len(f.Switches))
	var queue []fabric.SwitchIndex
	for i := range dist {
		dist[i] = -1
	}
	for _, p := range f.EndPorts {
		if sw, port := f.AttachedSwitch(p); port != 0 && dist[sw] < 0 {
			dist[sw] = 0
			queue = append(queue, sw)
		}
	}
	for i := 0; i < len(queue); i++ {
		n := f.SwitchNode(queue[i])
		for p := range n.Slots() {
			if s := f.PeerSwitch(p); s != fabric.None && dist[s] < 0 {
				dist[s] = dist[queue[i]] + 1
				queue = append(queue, s)
			}
		}
	}
	var guids []uint64
	for s, d := range dist {
		if d == dist[queue[len(queue)-1]] {
			guids = append(guids, f.SwitchNode(fabric.SwitchIndex(s)).GUID)
		}
	}
	return guids
}

// opensmPhase routes a fabric with OpenSM, and returns the time of its routing phase.
func opensmPhase(b *testing.B, f *fabric.Fabric, engine routing.Engine, roots []uint64, refused bool) time.Duration {
	b.Helper()
	dir := b.TempDir()
	netFile, log, conf := filepath.Join(dir, "net"), filepath.Join(dir, "log"), filepath.Join(dir, "conf")
	w, err := os.Create(netFile)
	if err != nil {
		b.Fatal(err)
	}
	if err := gen.WriteNet(w, f); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	settings := "force_log_flush TRUE\nsweep_interval 0\nrouting_engine " + engine.Name() + "\n"
	if roots != nil {
		settings += "root_guid_file " + filepath.Join(dir, "roots") + "\n"
	}
	guids := ""
	for _, g := range roots {
		guids += fmt.Sprintf("0x%016x\n", g)
	}
	var shape strings.Builder
	if t, ok := engine.(torus.Engine); ok {
		settings += "qos TRUE\ntorus_config " + filepath.Join(dir, "torus") + "\n"
		if err := osm.WriteTorusConf(&shape, t.Conf); err != nil {
			b.Fatal(err)
		}
	}
	for name, text := range map[string]string{conf: settings, filepath.Join(dir, "torus"): shape.String(),
		filepath.Join(dir, "roots"): guids} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	sim := ibsimtest.Start(b, netFile, ibsimtest.CommandLimit(phaseLimit))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := sim.Command(ctx, "opensm", "-F", conf, "-f", log, "-D", "0x07")
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	took := phase(b, log, refused)
	cancel() // it may hang if it is terminated during a sweep
	_ = cmd.Wait()
	return took
}

// phaseLimit limits the time of OpenSM.
const phaseLimit = 20 * time.Minute

// phase waits for the routing phase in an OpenSM log. It ends with the choice of another engine if the first one
// refused.
func phase(b *testing.B, log string, refused bool) time.Duration {
	b.Helper()
	for began := time.Now(); time.Since(began) < phaseLimit; time.Sleep(100 * time.Millisecond) {
		text, _ := os.ReadFile(log)
		begins, ends := stamps(b, string(text), "building routing with"),
			stamps(b, string(text), "tables configured on all switches")
		switch {
		case refused && len(begins) > 1:
			return begins[1].Sub(begins[0])
		case len(ends) > 0 && (refused || len(begins) != 1):
			b.Fatalf("OpenSM chose %d engines; ours refused: %v", len(begins), refused)
		case len(ends) > 0:
			return ends[0].Sub(begins[0])
		}
	}
	b.Fatal("OpenSM does not end its routing phase")
	return 0
}

var stampForm = regexp.MustCompile(`^(\w+ +\d+ \d+:\d+:\d+) (\d+) .*\n`)

// stamps returns the times of the lines of an OpenSM log that contain words: "Nov 21 01:20:53 123456 [...] ...",
// microseconds last.
func stamps(b *testing.B, log, words string) []time.Time {
	b.Helper()
	var all []time.Time
	for line := range strings.Lines(log) {
		if !strings.Contains(line, words) || !strings.HasSuffix(line, "\n") {
			continue
		}
		at, err := time.Parse("Jan _2 15:04:05.000000", stampForm.ReplaceAllString(line, "$1.$2"))
		if err != nil {
			b.Fatalf("opensm log: %v in %q", err, line)
		}
		all = append(all, at)
	}
	return all
}

// BenchmarkChecks routes a fat-tree of 11,664 hosts with minhop and makes the three checks of its tables. It reports
// the milliseconds of each, the ratio of reach and load to the routing, and the peak memory.
func BenchmarkChecks(b *testing.B) {
	f := gentest.WithLIDs(b, "fattree:3,36")
	var took [4]time.Duration
	runs := 0
	for b.Loop() {
		last := time.Now()
		lap := func(i int, err error) {
			if err != nil {
				b.Fatal(err)
			}
			took[i] += time.Since(last)
			last = time.Now()
		}
		res, err := minhop.Engine{}.Route(b.Context(), f, routing.Options{})
		lap(0, err)
		_, err = reach.Check(b.Context(), res.Tables, reach.Options{})
		lap(1, err)
		_, err = linkload.AllToAll(b.Context(), res.Tables, linkload.Options{})
		lap(2, err)
		_, err = credits.Check(b.Context(), res.Tables, credits.Options{})
		lap(3, err)
		runs++
	}
	for i, name := range []string{"route", "reach", "load", "credits"} {
		b.ReportMetric(took[i].Seconds()*1000/float64(runs), name+"-ms")
	}
	b.ReportMetric(float64(took[1])/float64(took[0]), "reach-x")
	b.ReportMetric(float64(took[2])/float64(took[0]), "load-x")
	b.ReportMetric(peakMB(b), "our-MB")
}

// peakMB returns the highest resident memory of this process so far.
func peakMB(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kb), " kB"))
			if err != nil {
				b.Fatal(err)
			}
			return float64(n) / 1024
		}
	}
	return 0
}
