// SPDX-License-Identifier: Apache-2.0

package counters_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// onIbsim is a subnet that OpenSM has routed, whose ports have errors.
func onIbsim(t *testing.T) (*ibsimtest.Sim, *mad.Client, *fabric.Fabric) {
	t.Helper()
	f, err := gen.ParseSpec("torus:3x2,2")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := gen.WriteNet(&text, f); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s := ibsimtest.Start(t, file)
	ibsimtest.OpenSM(t, s)
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, transport, mad.ClientOptions{Window: 32})
	res, err := sweep.Full(t.Context(), c, sweep.Options{NoTables: true})
	if err != nil {
		t.Fatal(err)
	}
	rnd := testenv.Rand(t)
	for _, n := range res.Fabric.Switches {
		for num := 1; num <= int(res.Fabric.Nodes[n].NumPorts); num += 2 {
			field := counters.Counter(rnd.IntN(int(counters.XmitWait)))
			said := s.Console(fmt.Sprintf("PerformanceSet %q[%d] PortCounters.%v=%d", res.Fabric.NodeName(n), num,
				field, 1+rnd.IntN(15)))
			if strings.Contains(said, "not") {
				t.Fatal(said)
			}
		}
	}
	return s, c, res.Fabric
}

func counterNamed(name string) counters.Counter {
	for c := range counters.All.All() {
		if c.String() == name {
			return c
		}
	}
	return counters.NumCounters
}

var perfqueryLine = regexp.MustCompile(`(?m)^(\w+):\.+(\d+)$`)

// TestErrorsArePerfquerys compares the counters of each port with those of perfquery, except for traffic, which
// perfquery changes, and QP1Dropped, which ibsim 0.10 copies from the request.
func TestErrorsArePerfquerys(t *testing.T) {
	s, c, f := onIbsim(t)
	r := read(t, c, f)
	if len(r.Unanswered) > 0 {
		t.Fatal(r.Unanswered)
	}
	compared, faults := 0, 0
	for _, p := range r.Ports {
		lid := f.Ports[f.EndPortOf(p.Port)].LID
		out := s.Output("perfquery", strconv.Itoa(int(lid)), strconv.Itoa(int(f.Ports[p.Port].Num)))
		for _, m := range perfqueryLine.FindAllStringSubmatch(out, -1) {
			i := counterNamed(m[1])
			if i == counters.NumCounters || i == counters.QP1Dropped || counters.Data.Has(i) {
				continue
			}
			if got := strconv.FormatUint(p.Values[i], 10); got != m[2] {
				t.Errorf("%s: %s is %s, want %s", f.PortName(p.Port), m[1], got, m[2])
			}
			if m[2] != "0" {
				faults++
			}
			compared++
		}
	}
	if compared != len(r.Ports)*13 || faults < 6 {
		t.Errorf("compared %d counters of %d ports, %d of them not 0", compared, len(r.Ports), faults)
	}
}

var (
	errorPort = regexp.MustCompile(`^   GUID 0x([0-9a-f]+) port (\d+):(.*)$`)
	oneError  = regexp.MustCompile(`\[(\w+) == (\d+)`)
)

// TestFlagsAreIbqueryerrors checks that counters above thresholds of 0 are the ones that ibqueryerrors prints, and none
// after Clear.
func TestFlagsAreIbqueryerrors(t *testing.T) {
	s, c, f := onIbsim(t)
	want := func() map[string]bool {
		lines := map[string]bool{}
		// it exits with 1 if there are errors
		out, err := s.Command(t.Context(), "ibqueryerrors", "--skip-sl").Output()
		if failed := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 1) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			m := errorPort.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil {
				continue
			}
			for _, e := range oneError.FindAllStringSubmatch(m[3], -1) {
				lines[fmt.Sprintf("%s/%s %s %s", strings.TrimLeft(m[1], "0"), m[2], e[1], e[2])] = true
			}
		}
		return lines
	}
	got := func() map[string]bool {
		lines := map[string]bool{}
		var zero counters.Values
		for _, p := range read(t, c, f).Ports {
			for x := range p.Beyond(&zero).All() {
				port := &f.Ports[p.Port]
				guid := port.GUID // ibqueryerrors prints that of the port
				lines[fmt.Sprintf("%x/%d %v %d", guid, port.Num, x, p.Values[x])] = true
			}
		}
		return lines
	}
	w, g := want(), got()
	if len(w) < 6 || !maps.Equal(w, g) {
		t.Errorf("beyond the thresholds:\n%v\nwant\n%v", slices.Sorted(maps.Keys(g)), slices.Sorted(maps.Keys(w)))
	}
	unanswered, err := counters.Clear(t.Context(), c, f, counters.Options{}, counters.Errors)
	if err != nil || len(unanswered) > 0 {
		t.Fatal(err, unanswered)
	}
	if w, g := want(), got(); len(w)+len(g) > 0 {
		t.Errorf("after a clear: %v and %v", w, g)
	}
}

// TestDetailsArePerfquerys compares the details of receive errors with those of perfquery -E.
func TestDetailsArePerfquerys(t *testing.T) {
	s, c, f := onIbsim(t)
	names := []string{"PortLocalPhysicalErrors", "PortMalformedPktErrors", "PortBufferOverrunErrors",
		"PortDLIDMappingErrors", "PortVLMappingErrors", "PortLoopingErrors"}
	for i, n := range f.Switches {
		said := s.Console(fmt.Sprintf("PerformanceSet %q[1] PortRcvErrorDetails.%s=%d", f.NodeName(n),
			strings.Replace(names[i%len(names)], "Pkt", "Packet", 1), i+1)) // as ibsim spells it
		if strings.Contains(said, "not") {
			t.Fatal(said)
		}
	}
	r, err := counters.Read(t.Context(), c, f, counters.Options{Details: true})
	if err != nil || len(r.Unanswered) > 0 {
		t.Fatal(err, r.Unanswered)
	}
	compared, others := 0, 0
	for _, p := range r.Ports {
		lid := f.Ports[f.EndPortOf(p.Port)].LID
		out := s.Output("perfquery", "-E", strconv.Itoa(int(lid)), strconv.Itoa(int(f.Ports[p.Port].Num)))
		for _, m := range perfqueryLine.FindAllStringSubmatch(out, -1) {
			i := slices.Index(names, m[1])
			if i < 0 {
				continue
			}
			if got := strconv.Itoa(int(*p.Details.Counters()[i])); got != m[2] {
				t.Errorf("%s: %s is %s, want %s", f.PortName(p.Port), m[1], got, m[2])
			}
			if compared++; m[2] != "0" {
				others++
			}
		}
	}
	if compared != len(r.Ports)*len(names) || others != len(f.Switches) {
		t.Errorf("compared %d counters of %d ports, %d of them not 0", compared, len(r.Ports), others)
	}
}
