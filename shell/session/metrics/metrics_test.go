// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/mad"
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
	p := counters.Port{Port: port, At: time.Now(), Has: counters.Of(counters.XmitData, counters.SymbolErrors)}
	p.Values[counters.XmitData], p.Values[counters.SymbolErrors] = 1000, 7
	r := &counters.Reading{Fabric: f, Ports: []counters.Port{p}}
	report := &problems.Report{}
	report.AddAs(problems.Error, problems.Rising, problems.WholeSubnet, "", "x")
	report.AddAs(problems.Error, problems.Rising, problems.WholeSubnet, "", "y")
	s := &Snapshot{Subnet: "a", Fabric: f, Errors: r, Traffic: r, Swept: time.Unix(1000, 0), Problems: report,
		WorstLoad: -1}
	for open, wants := range map[bool][]string{
		false: {"# TYPE infiniband_switch_port_symbol_error_total counter\n"},
		true:  {"# TYPE infiniband_switch_port_symbol_error counter\n", "\n# EOF\n"},
	} {
		var text strings.Builder
		if err := Write(&text, []*Snapshot{s}, open); err != nil {
			t.Fatal(err)
		}
		for _, want := range append(wants, `infiniband_switch_port_transmit_data_bytes_total{subnet="a",guid="0x`,
			`",port="1"} 4000`+"\n", `",port="1"} 7`+"\n", `switch="x\"} 1\nevil_total{a=\"\\?"`,
			`ibconsole_problems{subnet="a",kind="errors rising",severity="error"} 2`) {
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
				{Port: f.PortAt(f.Switches[0], 1), At: time.Now(), Has: counters.Of(counters.SymbolErrors)},
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

//go:embed testdata/names.txt
var names []byte

var (
	sampleLine = regexp.MustCompile(`^(\w+)\{(.*)\} (\S+)$`)
	labelPair  = regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
)

// parse returns the samples in the text format by name, each as its labels in order, with their values, and the value.
// It also returns the types of the metrics. Lines with a time stamp are errors.
func parse(t *testing.T, text string) (samples map[string][][]string, types map[string]string) {
	t.Helper()
	samples, types = map[string][][]string{}, map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if fields := strings.Fields(line); len(fields) == 4 && fields[1] == "TYPE" {
			types[fields[2]] = fields[3]
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not a sample: %s", line)
		}
		var labels []string
		for _, l := range labelPair.FindAllStringSubmatch(m[2], -1) {
			labels = append(labels, l[1], l[2])
		}
		samples[m[1]] = append(samples[m[1]], append(labels, m[3]))
	}
	return samples, types
}

// written returns the metrics of a subnet in the text format.
func written(t *testing.T, all ...*Snapshot) (samples map[string][][]string, types map[string]string) {
	t.Helper()
	var text strings.Builder
	if err := Write(&text, all, false); err != nil {
		t.Fatal(err)
	}
	return parse(t, text.String())
}

// whole returns a snapshot of a subnet that has all data.
func whole(t *testing.T) *Snapshot {
	t.Helper()
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	r := &counters.Reading{Fabric: f}
	for i := range f.Ports {
		r.Ports = append(r.Ports, counters.Port{Port: fabric.PortIndex(i), At: time.Now(), Took: time.Millisecond,
			Has: counters.All, Details: &mad.PortRcvErrorDetails{}})
	}
	return &Snapshot{Subnet: "a", Fabric: f, Errors: r, Traffic: r, Swept: time.Now(), Took: time.Second,
		Read: time.Second, Ended: time.Now(), WorstLoad: -1, Hardware: hardwareOf(f)}
}

// hardwareOf returns the hardware of the switches of a fabric.
func hardwareOf(f *fabric.Fabric) *Hardware {
	h := &Hardware{Fabric: f, Health: &health.Report{}, When: time.Now()}
	for i := range f.NumNodes() {
		*h.Health.OfNode(i) = health.Node{
			Firmware: "27.2008.0232", PSID: "MT_1", Serial: "S1", Part: "MQM8700", Uptime: health.LevelOf(60),
			Sensors:  []health.Sensor{{Celsius: health.LevelOf(54)}},
			Fans:     []health.Fan{{Index: 1, RPM: health.LevelOf(5000), Min: health.LevelOf(4000)}},
			Supplies: []health.Supply{{Index: 1, DC: "OK", Alert: "ok", Fan: "OK"}},
		}
	}
	return h
}

// TestHardware checks the values of the hardware of switches, that values that were not read have no samples, and that
// an old folder has none at all. The power of power supplies is never exported.
func TestHardware(t *testing.T) {
	s := whole(t)
	first := s.Hardware.Health.OfNode(s.Fabric.Switches[0])
	first.Fans[0].RPM = health.LevelOf(100)
	first.Fans = append(first.Fans, health.Fan{Index: 2})
	first.Supplies[0].DC, first.Supplies[0].Fan, first.Uptime = "Failure", "", health.Level{}
	guid := fmt.Sprintf("0x%016x", s.Fabric.SwitchNode(0).GUID)
	samples, _ := written(t, s)
	of := func(name string) (all [][]string) {
		for _, x := range samples["infiniband_switch_"+name] {
			if slices.Contains(x, guid) {
				all = append(all, x[4:])
			}
		}
		return all
	}
	for name, want := range map[string][][]string{
		"fan_rpm": {{"fan", "1", "100"}}, "fan_status_info": {{"status", "ERROR", "1"}}, "uptime_seconds": nil,
		"temperature_celsius": {{"54"}}, "power_supply_fan_status_info": nil,
		"power_supply_dc_power_status_info": {{"psu", "1", "status", "FAILURE", "1"}},
		"power_supply_status_info":          {{"psu", "1", "status", "OK", "1"}},
		"power_supply_watts":                nil,
	} {
		if got := of(name); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, expected %v", name, got, want)
		}
	}
	if n := len(samples["infiniband_switch_uptime_seconds"]); n != len(s.Fabric.Switches)-1 {
		t.Errorf("%d switches with an uptime, of %d", n, len(s.Fabric.Switches))
	}
	s.Hardware.When = time.Now().Add(-OldestHardware - time.Minute)
	samples, _ = written(t, s)
	for _, name := range []string{"fan_rpm", "hardware_info", "temperature_celsius", "power_supply_status_info"} {
		if n := len(samples["infiniband_switch_"+name]); n > 0 {
			t.Errorf("%s: %d samples of an old folder", name, n)
		}
	}
}

// TestNamesAreInfinibandExporters compares names, types and labels with those of infiniband_exporter, in both
// directions. The label subnet is in addition.
func TestNamesAreInfinibandExporters(t *testing.T) {
	samples, types := written(t, whole(t))
	want := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(names))
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		w := strings.Fields(lines.Text())
		want[w[0]] = true
		if types[w[0]] != w[1] || len(samples[w[0]]) == 0 {
			t.Errorf("%s: type %q, %d samples, want type %s", w[0], types[w[0]], len(samples[w[0]]), w[1])
		}
		wantLabels := slices.Sorted(slices.Values(append(strings.Split(w[2], ","), "subnet")))
		for _, s := range samples[w[0]] {
			var labels []string
			for i := 0; i < len(s)-1; i += 2 {
				labels = append(labels, s[i])
			}
			if slices.Sort(labels); !slices.Equal(labels, wantLabels) {
				t.Errorf("%s: labels %v, want %v", w[0], labels, wantLabels)
				break
			}
		}
	}
	if len(want) != 82 {
		t.Errorf("%d names in the list", len(want))
	}
	for name := range types {
		if strings.HasPrefix(name, "infiniband_") && !want[name] {
			t.Errorf("%s is not a name of infiniband_exporter", name)
		}
	}
}

// TestRates checks the rates of links of each speed and width against those of infiniband_exporter, apart from XDR.
func TestRates(t *testing.T) {
	gbps := map[fabric.Speed][2]float64{ // signaling and data rate of a lane
		fabric.SDR: {2.5, 2}, fabric.DDR: {5, 4}, fabric.QDR: {10, 8}, fabric.FDR10: {10.3125, 10},
		fabric.FDR: {14.0625, 13.64}, fabric.EDR: {25.78125, 25}, fabric.HDR: {50, 50}, fabric.NDR: {100, 100},
		fabric.XDR: {200, 200},
	}
	s := whole(t)
	sw := s.Fabric.Switches[0]
	var speeds []fabric.Speed
	for p := range s.Fabric.Nodes[sw].Slots() { // one speed per port: the speeds of a switch are mixed
		if s.Fabric.Ports[p].Linked() {
			speeds = append(speeds, s.Fabric.Ports[p].Speed)
		}
	}
	if len(speeds) < 3 {
		t.Fatal(speeds)
	}
	for _, first := range slices.Sorted(maps.Keys(gbps)) {
		for _, width := range []fabric.Width{1, 2, 4, 8, 12} {
			want := map[string]fabric.Speed{}
			n := 0
			for p := range s.Fabric.Nodes[sw].Slots() {
				if port := &s.Fabric.Ports[p]; port.Linked() {
					port.Speed = (first-fabric.SDR+fabric.Speed(n))%fabric.XDR + fabric.SDR
					port.Width = width
					want[fmt.Sprint(port.Num)] = port.Speed
					n++
				}
			}
			samples, _ := written(t, s)
			for at, name := range []string{"port_raw_rate", "port_rate"} {
				seen := 0
				for _, x := range samples["infiniband_switch_"+name+"_bytes_per_second"] {
					if x[3] != fmt.Sprintf("0x%016x", s.Fabric.Nodes[sw].GUID) {
						continue
					}
					seen++
					rate := float64(width) * gbps[want[x[5]]][at] * 1e9 / 8
					var got float64
					if _, err := fmt.Sscan(x[6], &got); err != nil || got < rate*0.999999 || got > rate*1.000001 {
						t.Errorf("%s of %v %v: %s, want %g", name, width, want[x[5]], x[6], rate)
					}
				}
				if seen != n {
					t.Errorf("%s: %d ports of %d", name, seen, n)
				}
			}
		}
	}
}

// TestUnreadIsNotZero checks that values that were not read, or that are old, are left out, that devices without an
// answer are counted, and that a failed round is an error.
func TestUnreadIsNotZero(t *testing.T) {
	const sent = "infiniband_switch_port_transmit_data_bytes_total"
	s := whole(t)
	samples, _ := written(t, s)
	for i := range s.Traffic.Ports {
		linked := s.Fabric.Ports[s.Traffic.Ports[i].Port].Linked()
		s.Traffic.Ports[i].At = s.Traffic.Ports[i].At.Add(-time.Hour)
		after, _ := written(t, s)
		if now := len(after[sent]); now > len(samples[sent]) || !linked && now < len(samples[sent]) {
			t.Errorf("a port (linked: %t) was not read: %d samples, before %d", linked, now, len(samples[sent]))
		}
		samples = after
	}
	if len(samples[sent]) != 0 {
		t.Errorf("samples that are an hour old: %v", samples[sent])
	}
	s = whole(t)
	sw, host := s.Fabric.Switches[0], s.Fabric.Ports[s.Fabric.EndPorts[len(s.Fabric.EndPorts)-1]].Node
	for n, err := range map[fabric.NodeIndex]error{sw: mad.ErrTimeout, host: errors.New("refused")} {
		s.Traffic.Ports = slices.DeleteFunc(s.Traffic.Ports, func(p counters.Port) bool {
			return s.Fabric.Ports[p.Port].Node == n
		})
		s.Traffic.Unanswered = append(s.Traffic.Unanswered, counters.Unanswered{
			Port: s.Fabric.PortAt(n, 1), Whole: true, Count: 1, Err: fmt.Errorf("request: %w", err),
		})
	}
	samples, _ = written(t, s)
	for name, want := range map[string]float64{
		"infiniband_exporter_collect_errors": 1, "infiniband_exporter_collect_timeouts": 1,
		"infiniband_switch_collect_timeout": 1, "infiniband_switch_collect_error": 0,
		"infiniband_hca_collect_timeout": 0, "infiniband_hca_collect_error": 1,
	} {
		got := 0.0
		for _, x := range samples[name] {
			var v float64
			if _, err := fmt.Sscan(x[len(x)-1], &v); err != nil {
				t.Fatal(err)
			}
			got += v
		}
		if got != want {
			t.Errorf("%s: %g in all, want %g: %v", name, got, want, samples[name])
		}
	}
	if n := len(samples["infiniband_switch_collect_duration_seconds"]); n != len(s.Fabric.Switches)-1 {
		t.Errorf("durations of %d switches; one of %d did not answer", n, len(s.Fabric.Switches))
	}
	s.RoundFailed = true
	after, _ := written(t, s)
	if slices.Equal(after["infiniband_exporter_collect_errors"][1], samples["infiniband_exporter_collect_errors"][1]) {
		t.Error("a failed round is no error")
	}
	s.Errors, s.Traffic, s.Ended = nil, nil, time.Time{}
	samples, types := written(t, s)
	for name := range types {
		if strings.HasSuffix(name, "_total") && name != "ibconsole_events_total" ||
			name == "ibconsole_unanswered_ports" {
			t.Errorf("%s before the first reading: %v", name, samples[name])
		}
	}
}

// TestNoPorts checks that a second recorder exports no metric with a GUID, so that joins on GUIDs have one match.
func TestNoPorts(t *testing.T) {
	s := whole(t)
	s.NoPorts = true
	samples, _ := written(t, s)
	for name, all := range samples {
		for _, x := range all {
			if slices.Contains(x, "guid") {
				t.Errorf("%s: %v", name, x)
			}
		}
	}
	if len(samples["infiniband_exporter_collect_errors"]) == 0 || len(samples["ibconsole_nodes"]) == 0 {
		t.Error("nothing is left")
	}
}
