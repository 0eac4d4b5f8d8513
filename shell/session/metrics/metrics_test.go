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

// TestWrite: names cannot leave their quotes, data is told in bytes, and both forms end as they should.
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
	report.Add(problems.Error, problems.Rising, problems.Nowhere, "", "x")
	report.Add(problems.Error, problems.Rising, problems.Nowhere, "", "y")
	s := &Snapshot{Fabric: f, Errors: r, Traffic: r, Swept: time.Unix(1000, 0), Problems: report, WorstLoad: -1}
	for open, wants := range map[bool][]string{
		false: {"# TYPE infiniband_switch_port_symbol_error_total counter\n"},
		true:  {"# TYPE infiniband_switch_port_symbol_error counter\n", "\n# EOF\n"},
	} {
		var text strings.Builder
		if err := Write(&text, s, open); err != nil {
			t.Fatal(err)
		}
		for _, want := range append(wants, `infiniband_switch_port_transmit_data_bytes_total{guid="0x`, `",port="1"} 4000`+"\n", `",port="1"} 7`+"\n", `switch="x\"} 1\nevil_total{a=\"\\?"`, `ibconsole_problems{kind="errors rising",severity="error"} 2`) {
			if !strings.Contains(text.String(), want) {
				t.Errorf("no %q in\n%s", want, text.String())
			}
		}
		if strings.Contains(text.String(), "\nevil") || strings.Contains(text.String(), "worst_load") {
			t.Errorf("%s", text.String())
		}
	}
}
