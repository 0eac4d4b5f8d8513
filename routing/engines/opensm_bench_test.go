// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
)

// besideOpenSM is the variable that makes the benchmark run OpenSM too, which
// takes minutes on the largest fabric.
const besideOpenSM = "IBCONSOLE_BENCH_OPENSM"

// BenchmarkRoute times every engine and, with IBCONSOLE_BENCH_OPENSM=1, OpenSM's
// routing phase over ibsim on the same fabrics: from the choice of the engine to
// the tables being on all switches, as its log stamps it.
func BenchmarkRoute(b *testing.B) {
	for _, spec := range []string{"fattree:2,36", "torus:8x8x8", "fattree:3,36"} {
		f, err := gen.ParseSpec(spec)
		if err != nil {
			b.Fatal(err)
		}
		if f, err = fabric.AssignLIDs(f); err != nil {
			b.Fatal(err)
		}
		for _, engine := range engines.All() {
			b.Run(fmt.Sprintf("%s/%s/ibconsole", spec, engine.Name()), func(b *testing.B) {
				for b.Loop() {
					if _, err := engine.Route(b.Context(), f, routing.Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
			if os.Getenv(besideOpenSM) != "1" {
				continue
			}
			b.Run(fmt.Sprintf("%s/%s/opensm", spec, engine.Name()), func(b *testing.B) {
				benchOpenSM(b, f, engine.Name())
			})
		}
	}
}

// benchOpenSM reports the routing phase of OpenSM as the time of an operation.
func benchOpenSM(b *testing.B, f *fabric.Fabric, engine string) {
	netFile := filepath.Join(b.TempDir(), "fabric.net")
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
	sim := ibsimtest.Start(b, netFile)
	var total time.Duration
	runs := 0
	for b.Loop() {
		total += routingPhase(b, sim, engine)
		runs++
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(runs), "ns/op")
}

func routingPhase(b *testing.B, sim *ibsimtest.Sim, engine string) time.Duration {
	b.Helper()
	dir := b.TempDir()
	log := filepath.Join(dir, "opensm.log")
	cmd := sim.Command(context.Background(), "opensm", "-o", "-R", engine, "-f", log, "-D", "0x07")
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("opensm: %v\n%s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		b.Fatal(err)
	}
	start, end := stamp(b, string(text), "building routing with"), stamp(b, string(text), "tables configured on all switches")
	return end.Sub(start)
}

var stampForm = regexp.MustCompile(`^(\w+ +\d+ \d+:\d+:\d+) (\d+) .*\n`)

// stamp is the time of the first line of an OpenSM log that has the words:
// "Nov 21 01:20:53 123456 [...] ...", microseconds last.
func stamp(b *testing.B, log, words string) time.Time {
	b.Helper()
	for line := range strings.Lines(log) {
		if !strings.Contains(line, words) {
			continue
		}
		at, err := time.Parse("Jan _2 15:04:05.000000", stampForm.ReplaceAllString(line, "$1.$2"))
		if err != nil {
			b.Fatalf("opensm log: %v in %q", err, line)
		}
		return at
	}
	b.Fatalf("opensm log has no line with %q", words)
	return time.Time{}
}
