// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/nue"
	"example.org/ibconsole/routing/engines/torus"
)

// besideOpenSM is the variable that makes the benchmark run OpenSM too, which
// takes minutes on the largest fabrics.
const besideOpenSM = "IBCONSOLE_BENCH_OPENSM"

// BenchmarkRoute times every engine. With IBCONSOLE_BENCH_OPENSM=1 an OpenSM
// routes the same fabric over ibsim beside it, and these are reported too:
//
//	opensm-s    its routing phase, as its log stamps it: from the choice of the
//	            engine to the tables being on all switches
//	ratio       how many times as long as ours that is
//	resend-s    the same phase of a second sweep, in which it sends no table
//	resend-x    how many times as long as ours that is
//	opensm-MB   its peak memory
//	our-MB      the peak memory of the process that runs the benchmark
func BenchmarkRoute(b *testing.B) {
	for name, f := range benchFabrics(b) {
		for _, engine := range engines.All() {
			b.Run(name+"/"+engine.Name(), func(b *testing.B) {
				if os.Getenv(besideOpenSM) == "1" && takesHours(engine, f) {
					b.Skip("OpenSM takes hours: BenchmarkNue has smaller fabrics")
				}
				benchRoute(b, f, engine)
			})
		}
	}
}

// takesHours reports whether OpenSM does with an engine: its lash takes minutes for 300 switches, and grows faster than their square.
func takesHours(engine routing.Engine, f *fabric.Fabric) bool {
	return engine.Name() == nue.Name || engine.Name() == "lash" && len(f.Switches) > 1000
}

// BenchmarkCopy is the floor of all engines: how fast this machine copies a table of 64 MB, which no engine can pass.
func BenchmarkCopy(b *testing.B) {
	from, to := make([]byte, 64<<20), make([]byte, 64<<20)
	b.SetBytes(int64(len(from)))
	for b.Loop() {
		copy(to, from)
	}
}

// BenchmarkNue times nue as [BenchmarkRoute] does, on fabrics that take OpenSM seconds.
func BenchmarkNue(b *testing.B) {
	for _, spec := range []string{"random:300,12,1500", "hypercube:9", "dragonfly:8,4,4", "torus:8x8x8"} {
		f := assigned(b, spec)
		b.Run(spec, func(b *testing.B) { benchRoute(b, f, nue.Engine{}) })
	}
}

// BenchmarkLimit times engines where all addresses are given: 4032 switches and 41,472 hosts, 183 million entries. OpenSM
// does not run beside it.
func BenchmarkLimit(b *testing.B) {
	f := assigned(b, "xgft:3,24,24,72,1,24,24")
	for _, name := range []string{"minhop", "updn", "dnup", "dor", "ftree"} {
		engine, err := engines.ByName(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := engine.Route(b.Context(), f, routing.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(peakMB(b), "our-MB")
			b.ReportMetric(float64(len(f.Switches)*int(f.MaxLID)), "entries")
		})
	}
}

func benchFabrics(b *testing.B) map[string]*fabric.Fabric {
	all := map[string]*fabric.Fabric{}
	for _, spec := range []string{"fattree:2,36", "torus:8x8x8", "fattree:3,36", "random:300,12,1500", "hypercube:9,hosts=4", "dragonfly:8,4,4", "torus:10x10x10,hosts=4"} {
		f, err := gen.ParseSpec(spec)
		if err != nil {
			b.Fatal(err)
		}
		all[spec] = f
	}
	if root := os.Getenv("IBCONSOLE_SHARED"); root != "" {
		subnet, err := formats.Net(b.Context(), filepath.Join(root, "fabrics", "rhino10k-2520sw.net"))
		if err != nil {
			b.Fatal(err)
		}
		f := subnet.Fabric
		all["rhino10k"] = f
	}
	for name, f := range all {
		g, err := fabric.AssignLIDs(f)
		if err != nil {
			b.Fatal(err)
		}
		all[name] = g
	}
	return all
}

func benchRoute(b *testing.B, f *fabric.Fabric, engine routing.Engine) {
	opt := routing.Options{}
	if engine.Name() == torus.Name {
		conf, err := torus.Recognise(b.Context(), f)
		if err != nil {
			b.Skip(err)
		}
		engine = torus.Engine{Conf: conf}
	}
	if _, err := engine.Route(b.Context(), f, opt); err != nil {
		if opt.RootGUIDs = farthest(f); engine.Name() != "updn" {
			b.Skip(err)
		}
	}
	start := time.Now()
	runs := 0
	for b.Loop() {
		if _, err := engine.Route(b.Context(), f, opt); err != nil {
			b.Fatal(err)
		}
		runs++
	}
	ours := time.Since(start).Seconds() / float64(runs)
	b.ReportMetric(peakMB(b), "our-MB")
	b.ReportMetric(float64(len(f.Switches)*int(f.MaxLID)), "entries")
	if os.Getenv(besideOpenSM) != "1" {
		return
	}
	first, second, mb := opensmPhases(b, f, engine, opt.RootGUIDs)
	b.ReportMetric(first.Seconds(), "opensm-s")
	b.ReportMetric(first.Seconds()/ours, "ratio")
	b.ReportMetric(second.Seconds(), "resend-s")
	b.ReportMetric(second.Seconds()/ours, "resend-x")
	b.ReportMetric(mb, "opensm-MB")
}

// farthest are the node GUIDs of the switches that are farthest from all hosts:
// roots for a fabric in which updn finds none.
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

// peakMB is the highest resident memory that this process has had.
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

// opensmPhases has an OpenSM route a fabric twice, and returns both routing
// phases and its peak memory.
func opensmPhases(b *testing.B, f *fabric.Fabric, engine routing.Engine, roots []uint64) (first, second time.Duration, mb float64) {
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
		if err := torus.WriteConfig(&shape, t.Conf); err != nil {
			b.Fatal(err)
		}
	}
	for name, text := range map[string]string{conf: settings, filepath.Join(dir, "torus"): shape.String(), filepath.Join(dir, "roots"): guids} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	sim := ibsimtest.Start(b, netFile)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := sim.Command(ctx, "opensm", "-F", conf, "-f", log, "-D", "0x07")
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	first = phase(b, log, 0)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		b.Fatal(err)
	}
	second = phase(b, log, 1)
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		mb = float64(usage.Maxrss) / 1024
	}
	return first, second, mb
}

// phase waits for the n-th routing phase in an OpenSM log.
func phase(b *testing.B, log string, n int) time.Duration {
	b.Helper()
	for range 12000 {
		text, _ := os.ReadFile(log)
		begins, ends := stamps(b, string(text), "building routing with"), stamps(b, string(text), "tables configured on all switches")
		if len(begins) > n && len(ends) > n {
			return ends[n].Sub(begins[n])
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.Fatalf("OpenSM does not end its routing phase %d", n)
	return 0
}

var stampForm = regexp.MustCompile(`^(\w+ +\d+ \d+:\d+:\d+) (\d+) .*\n`)

// stamps are the times of the lines of an OpenSM log that have the words:
// "Nov 21 01:20:53 123456 [...] ...", microseconds last.
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
