// SPDX-License-Identifier: Apache-2.0

package formats_test

import (
	"strings"
	"testing"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats"
)

// TestCounters reads counters next to a subnet. The later file counts where two files have the same counter.
func TestCounters(t *testing.T) {
	const dir = "counterdump/testdata/"
	s, err := formats.Read(t.Context(), dir+"subnet.topo,"+dir+"ibqueryerrors.txt,"+dir+"perfquery.txt")
	if err != nil {
		t.Fatal(err)
	}
	if s.Unread.Count > 0 || s.Counters == nil || len(s.Counters.Ports) != 2 {
		t.Fatalf("%+v, not read: %v", s.Counters, s.Unread.Findings)
	}
	for _, p := range s.Counters.Ports {
		if s.Fabric.PortName(p.Port) == "leaf 1/2" && p.Values[counters.RcvErrors] != 22 {
			t.Errorf("%+v", p)
		}
	}
	for path, want := range map[string]string{
		dir + "ibqueryerrors.txt":                             "hint: counters are read next to a subnet",
		dir + "subnet.topo," + dir + "subnet.topo":            "expected counters of perfquery, ibqueryerrors",
		dir + "mlxlink.json":                                  "(mlxlink --json), expected a topology file",
		dir + "subnet.topo," + dir + "mlxlink.json":           "mlxlink does not print the port",
		dir + "subnet.topo,leaf 1=" + dir + "mlxlink.json":    `"leaf 1" names no port, expected NODE/PORT`,
		dir + "subnet.topo,leaf 1/2=" + dir + "perfquery.txt": "expected JSON of mlxlink after PORT=",
		dir + "ibqueryerrors.txt," + dir + "none.txt":         "(ibqueryerrors), expected a topology file",
	} {
		if _, err := formats.Read(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", path, err, want)
		}
	}
}

// TestMlxlink reads the counters of a port that is named in front of the file.
func TestMlxlink(t *testing.T) {
	const dir = "counterdump/testdata/"
	s, err := formats.Read(t.Context(), dir+"subnet.topo,"+dir+"perfquery.txt,leaf 1/2="+dir+"mlxlink.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Counters.Ports {
		if s.Fabric.PortName(p.Port) == "leaf 1/2" {
			if p.Values[counters.LinkErrorRecovery] != 300 || p.Values[counters.RcvErrors] != 22 {
				t.Errorf("%+v", p)
			}
			return
		}
	}
	t.Error("leaf 1/2 has no counters")
}
