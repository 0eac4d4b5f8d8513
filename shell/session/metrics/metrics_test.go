// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/problems"
)

// TestWrite checks that names are escaped, that data counters are in bytes, and that both formats are complete.
func TestWrite(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	sw := f.Switches[0]
	hostile := "x\"} 1\nevil_total{a=\"\\\xff"
	f = f.WithDescriptions(map[uint64]string{f.Nodes[sw].GUID: hostile})
	port := f.PortAt(sw, 1)
	p := counters.Port{Port: port, Has: counters.Of(counters.XmitData, counters.SymbolErrors)}
	p.Values[counters.XmitData], p.Values[counters.SymbolErrors] = 1000, 7
	r := &counters.Reading{Fabric: f, Ports: []counters.Port{p}}
	report := &problems.Report{}
	report.AddAs(problems.Error, problems.Rising, problems.WholeSubnet, "", "x")
	report.AddAs(problems.Error, problems.Rising, problems.WholeSubnet, "", "y")
	s := &Snapshot{Fabric: f, Errors: r, Traffic: r, Swept: time.Unix(1000, 0), Problems: report, WorstLoad: -1}
	for open, wants := range map[bool][]string{
		false: {"# TYPE infiniband_switch_port_symbol_error_total counter\n"},
		true:  {"# TYPE infiniband_switch_port_symbol_error counter\n", "\n# EOF\n"},
	} {
		var text strings.Builder
		if err := Write(&text, []*Snapshot{s}, open); err != nil {
			t.Fatal(err)
		}
		for _, want := range append(wants, `infiniband_switch_port_transmit_data_bytes_total{guid="0x`,
			`",port="1"} 4000`+"\n", `",port="1"} 7`+"\n", `switch="x\"} 1\nevil_total{a=\"\\?"`,
			`ibconsole_problems{kind="errors rising",severity="error"} 2`) {
			if !strings.Contains(text.String(), want) {
				t.Errorf("no %q in\n%s", want, text.String())
			}
		}
		if strings.Contains(text.String(), "\nevil") || strings.Contains(text.String(), "worst_load") {
			t.Errorf("%s", text.String())
		}
	}
}

// TestWriteSeveral checks that each metric has one family whose lines have the label of their subnet, and that the name
// of a subnet is escaped.
func TestWriteSeveral(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	var all []*Snapshot
	for _, name := range []string{"a", "b\"} 1\nevil{x=\""} {
		r := &counters.Reading{
			Fabric: f, Ports: []counters.Port{
				{Port: f.PortAt(f.Switches[0], 1), Has: counters.Of(counters.SymbolErrors)},
			},
		}
		all = append(all, &Snapshot{
			Subnet: name, Fabric: f, Errors: r, Swept: time.Unix(1000, 0), Problems: &problems.Report{}, WorstLoad: -1,
		})
	}
	var text strings.Builder
	if err := Write(&text, all, false); err != nil {
		t.Fatal(err)
	}
	families := map[string]bool{}
	of := map[string]int{}
	for line := range strings.Lines(text.String()) {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ = strings.Cut(name, " ")
			if families[name] {
				t.Errorf("family %s occurs twice", name)
			}
			families[name] = true
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		switch {
		case strings.Contains(line, `{subnet="a"`):
			of["a"]++
		case strings.Contains(line, `{subnet="b\"} 1\nevil{x=\""`):
			of["b"]++
		default:
			t.Errorf("a line without a subnet: %s", line)
		}
	}
	if of["a"] == 0 || of["a"] != of["b"] {
		t.Errorf("lines by subnet: %v", of)
	}
}
