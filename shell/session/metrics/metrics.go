// SPDX-License-Identifier: Apache-2.0

// Package metrics exports the data of a subnet to Prometheus. The names follow treydock/infiniband_exporter. Metrics
// that it does not have begin with ibconsole.
package metrics

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/problems"
)

// Snapshot holds the data of a subnet that is exported to Prometheus.
type Snapshot struct {
	// Subnet is the value of the label "subnet". It is "" if only one subnet is exported, which needs no label.
	Subnet string
	Fabric *fabric.Fabric
	// Errors and Traffic are the last readings of counters, or nil before the first reading. The data counters are
	// taken from Traffic, and all other counters from Errors.
	Errors, Traffic *counters.Reading
	// Swept is the time of the last sweep, and Took its duration. Read is the duration of the last round of reading
	// counters.
	Swept time.Time
	Took  time.Duration
	Read  time.Duration
	// Unanswered is the number of ports that did not respond in the last round of counters.
	Unanswered int
	Problems   *problems.Report
	// WorstLoad is the maximum number of paths over a link between switches. It is negative if unknown.
	WorstLoad int64
	Events    int // number since the start of the console
}

// The types of metrics.
const (
	gauge   = "gauge"
	counter = "counter"
)

// writer writes families of metrics in one of two formats.
type writer struct {
	*bufio.Writer
	open bool // OpenMetrics, not the text format
	line []byte
	all  []*Snapshot
}

// Write writes the metrics of the subnets in the OpenMetrics 1.0 format or in the Prometheus text format 0.0.4.
func Write(to io.Writer, all []*Snapshot, openMetrics bool) error {
	w := &writer{Writer: bufio.NewWriterSize(to, 64<<10), open: openMetrics, all: all}
	for _, kind := range []struct {
		name     string
		switches bool
	}{{"switch", true}, {"hca", false}} {
		for c := range counters.All.All() {
			w.counters(kind.name, kind.switches, c)
		}
		w.nodes(kind.name, kind.switches)
	}
	w.portStates()
	w.subnets()
	if w.open {
		_, _ = w.WriteString("# EOF\n")
	}
	return w.Flush()
}

// family writes the head of a family of metrics and returns the name of its samples. Samples of a counter are named
// NAME_total. In the text format, the family is also named NAME_total.
func (w *writer) family(name, kind, help string) (sample string) {
	sample = name
	if kind == counter {
		sample += "_total"
		if !w.open {
			name = sample
		}
	}
	_, _ = fmt.Fprintf(w, "# HELP %s InfiniBand: %s\n# TYPE %s %s\n", name, help, name, kind)
	return sample
}

// label returns the value of a label escaped for use between quotes.
func label(text string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ToValidUTF8(text, "?"))
}

// labels returns, in braces, the label of the subnet and the labels in more. It returns "" if there are no labels.
func (s *Snapshot) labels(more string) string {
	switch {
	case s.Subnet == "" && more == "":
		return ""
	case s.Subnet == "":
		return "{" + more + "}"
	case more == "":
		return `{subnet="` + label(s.Subnet) + `"}`
	}
	return `{subnet="` + label(s.Subnet) + `",` + more + "}"
}

// counters writes the samples of one counter for the ports of switches, or for the ports of other nodes.
func (w *writer) counters(kind string, switches bool, c counters.Counter) {
	name := ""
	for _, s := range w.all {
		r := s.Errors
		if counters.Data.Has(c) {
			r = s.Traffic
		}
		if r != nil {
			name = w.countersOf(s, r, name, kind, switches, c)
		}
	}
}

// countersOf writes the samples of one counter in a reading. It writes the head of the family before the first sample,
// and returns the name of the samples. The argument name is this name, or "" if the head was not written yet. Data
// counters count words of 4 bytes and are exported in bytes.
func (w *writer) countersOf(s *Snapshot, r *counters.Reading, name, kind string, switches bool,
	c counters.Counter) string {
	for i := range r.Ports {
		p := &r.Ports[i]
		at := &r.Fabric.Ports[p.Port]
		node := &r.Fabric.Nodes[at.Node]
		if !p.Has.Has(c) || node.IsSwitch() != switches {
			continue
		}
		if name == "" {
			end, help := c.Metric()
			name = w.family("infiniband_"+kind+"_"+end, counter, help)
		}
		w.port(s, name, node.GUID, at.Num)
		if c == counters.XmitData || c == counters.RcvData {
			w.number(4 * float64(p.Values[c]))
		} else {
			w.whole(p.Values[c])
		}
	}
	return name
}

// port begins w.line with the name and labels of a port.
func (w *writer) port(s *Snapshot, name string, guid uint64, num uint8) {
	w.line = append(w.line[:0], name...)
	w.line = append(w.line, '{')
	if s.Subnet != "" {
		w.line = append(w.line, `subnet="`...)
		w.line = append(w.line, label(s.Subnet)...)
		w.line = append(w.line, `",`...)
	}
	w.line = append(w.line, `guid="0x`...)
	hex := strconv.FormatUint(guid, 16)
	for range 16 - len(hex) {
		w.line = append(w.line, '0')
	}
	w.line = append(w.line, hex...)
	w.line = append(w.line, `",port="`...)
	w.line = strconv.AppendUint(w.line, uint64(num), 10)
	w.line = append(w.line, `"} `...)
}

func (w *writer) number(v float64) {
	w.line = strconv.AppendFloat(w.line, v, 'g', -1, 64)
	_, _ = w.Write(append(w.line, '\n'))
}

func (w *writer) whole(v uint64) {
	w.line = strconv.AppendUint(w.line, v, 10)
	_, _ = w.Write(append(w.line, '\n'))
}

// nodes writes the names and rates of nodes, and the peers of their ports.
func (w *writer) nodes(kind string, switches bool) {
	each := func(do func(s *Snapshot, f *fabric.Fabric, n *fabric.Node)) {
		for _, s := range w.all {
			for i := range s.Fabric.Nodes {
				if n := &s.Fabric.Nodes[i]; n.InSubnet && n.IsSwitch() == switches {
					do(s, s.Fabric, n)
				}
			}
		}
	}
	name := w.family("infiniband_"+kind+"_info", gauge, "names of nodes")
	each(func(s *Snapshot, f *fabric.Fabric, n *fabric.Node) {
		_, _ = fmt.Fprintf(w, "%s%s 1\n", name,
			s.labels(fmt.Sprintf(`guid="0x%016x",%s="%s",lid="%d"`, n.GUID, kind, label(n.Desc), lidOf(f, n))))
	})
	name = w.family("infiniband_"+kind+"_rate_bytes_per_second", gauge, "rate of the fastest link of a node")
	each(func(s *Snapshot, f *fabric.Fabric, n *fabric.Node) {
		fastest := 0.0
		for p := range n.Slots() {
			if f.Ports[p].Linked() {
				fastest = max(fastest, f.Ports[p].Gbps())
			}
		}
		_, _ = fmt.Fprintf(w, "%s%s %g\n", name, s.labels(fmt.Sprintf(`guid="0x%016x"`, n.GUID)), fastest*1e9/8)
	})
	name = w.family("infiniband_"+kind+"_uplink_info", gauge, "peers of ports")
	each(func(s *Snapshot, f *fabric.Fabric, n *fabric.Node) {
		for p := range n.Slots() {
			if !f.Ports[p].Linked() {
				continue
			}
			q := &f.Ports[f.Ports[p].Peer]
			peer := &f.Nodes[q.Node]
			more := fmt.Sprintf(`guid="0x%016x",port="%d",%s="%s"`, n.GUID, f.Ports[p].Num, kind, label(n.Desc)) +
				fmt.Sprintf(`,uplink="%s",uplink_guid="0x%016x",uplink_type="%s"`, label(peer.Desc), peer.GUID,
					typeOf(peer)) +
				fmt.Sprintf(`,uplink_port="%d",uplink_lid="%d"`, q.Num, f.Ports[f.EndPortOf(f.Ports[p].Peer)].LID)
			_, _ = fmt.Fprintf(w, "%s%s 1\n", name, s.labels(more))
		}
	})
}

// lidOf returns the first LID of a node, or 0 if it has none.
func lidOf(f *fabric.Fabric, n *fabric.Node) uint16 {
	for p := range n.Slots() {
		if lid := f.Ports[p].LID; lid != 0 {
			return lid
		}
	}
	return 0
}

func typeOf(n *fabric.Node) string {
	if n.IsSwitch() {
		return "SW"
	}
	return "CA"
}

// portStates writes the states of ports.
func (w *writer) portStates() {
	name := w.family("ibconsole_port_state", gauge, "logical state of a port: 1 down, 2 initialize, 3 armed, 4 active")
	for _, s := range w.all {
		f := s.Fabric
		for i := range f.Nodes {
			n := &f.Nodes[i]
			for p := range n.Slots() {
				if port := &f.Ports[p]; n.InSubnet && port.State != 0 {
					w.port(s, name, n.GUID, port.Num)
					w.whole(uint64(port.State))
				}
			}
		}
	}
}

// The constant unknown is the value of a metric that is unknown. The metric is not written.
const unknown = -1

// subnets writes the metrics that describe a subnet as a whole.
func (w *writer) subnets() {
	one := func(name, kind, help, more string, value func(*Snapshot) float64) {
		begun := false
		for _, s := range w.all {
			v := value(s)
			if v == unknown {
				continue
			}
			if !begun {
				name, begun = w.family(name, kind, help), true
			}
			_, _ = fmt.Fprintf(w, "%s%s %s\n", name, s.labels(more), strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	one("ibconsole_sweep_timestamp_seconds", gauge, "time of the last sweep", "", func(s *Snapshot) float64 {
		return float64(s.Swept.UnixMilli()) / 1000
	})
	one("ibconsole_sweep_duration_seconds", gauge, "duration of the last sweep", "", func(s *Snapshot) float64 {
		return s.Took.Seconds()
	})
	one("ibconsole_nodes", gauge, "nodes in the subnet", "", func(s *Snapshot) float64 {
		return float64(len(s.Fabric.Nodes))
	})
	one("ibconsole_links", gauge, "links in the subnet", "", func(s *Snapshot) float64 {
		return float64(len(s.Fabric.Links()))
	})
	one("ibconsole_unanswered_ports", gauge, "ports that did not respond in the last round of counters", "",
		func(s *Snapshot) float64 {
			return float64(s.Unanswered)
		})
	one("ibconsole_worst_load_paths", gauge, "maximum number of paths per link between switches, all to all", "",
		func(s *Snapshot) float64 {
			return float64(max(s.WorstLoad, unknown))
		})
	one("infiniband_exporter_collector_duration_seconds", gauge, "duration of the last round of counters",
		`collector="ibconsole"`, func(s *Snapshot) float64 {
			return s.Read.Seconds()
		})
	one("ibconsole_events", counter, "events since the start of the recorder", "", func(s *Snapshot) float64 {
		return float64(s.Events)
	})
	name := ""
	for _, s := range w.all {
		if s.Problems == nil {
			continue
		}
		if name == "" {
			name = w.family("ibconsole_problems", gauge, "problems by kind")
		}
		w.problems(s, name)
	}
}

func (w *writer) problems(s *Snapshot, name string) {
	type key struct{ kind, severity string }
	n := map[key]int{}
	var keys []key
	for _, p := range s.Problems.Problems {
		k := key{string(p.Kind), p.Severity.String()}
		if n[k] == 0 {
			keys = append(keys, k)
		}
		n[k]++
	}
	slices.SortStableFunc(keys, func(a, b key) int { return strings.Compare(a.kind+a.severity, b.kind+b.severity) })
	for _, k := range keys {
		_, _ = fmt.Fprintf(w, "%s%s %d\n", name,
			s.labels(fmt.Sprintf(`kind="%s",severity="%s"`, label(k.kind), k.severity)), n[k])
	}
}
