// SPDX-License-Identifier: Apache-2.0

// Package metrics exports the data of a subnet to Prometheus. The names, types, units and labels that begin with
// infiniband are those of treydock/infiniband_exporter 0.10. Metrics that it does not have begin with ibconsole. Each
// sample has the label subnet in addition.
package metrics

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/mad"
)

// Snapshot holds the data of a subnet that is exported to Prometheus.
type Snapshot struct {
	Subnet string // the value of the label "subnet"
	Fabric *fabric.Fabric
	// Errors and Traffic are the last readings of counters, or nil before the first reading. The data counters are
	// taken from Traffic, and all other counters from Errors.
	Errors, Traffic *counters.Reading
	// NoPorts leaves out the metrics of devices and ports, because another recorder exports them.
	NoPorts bool
	// Swept is the time of the last sweep, and Took its duration. SweepFailed is set if a later sweep failed. Read is
	// the duration of the last round of reading counters, and Ended its end.
	Swept       time.Time
	Took        time.Duration
	SweepFailed bool
	Read        time.Duration
	Ended       time.Time
	// RoundFailed is set if the last round failed. Unanswered is the number of ports that did not respond in it.
	RoundFailed bool
	Unanswered  int
	Problems    *problems.Report
	// WorstLoad is the maximum number of paths over a link between switches. It is negative if unknown.
	WorstLoad int64
	Events    int // number since the start of the console
	// Hardware holds the hardware of switches from an ibdiagnet folder, nil for none.
	Hardware *Hardware

	label string // Subnet, escaped
	// results are those of the last round for each device.
	results map[kind]map[fabric.NodeIndex]outcome
}

// last returns the last reading, or nil before the first.
func (s *Snapshot) last() *counters.Reading {
	if s.Traffic != nil {
		return s.Traffic
	}
	return s.Errors
}

// The types of metrics.
const (
	gauge   = "gauge"
	counter = "counter"
)

// kind is a kind of devices, with the names of its metrics and of its label.
type kind string

// The kinds of devices.
const (
	switches kind = "switch"
	hosts    kind = "hca"
)

func kindOf(n *fabric.Node) kind {
	if n.IsSwitch() {
		return switches
	}
	return hosts
}

// writer writes families of metrics in one of two formats.
type writer struct {
	*bufio.Writer
	open bool // OpenMetrics, not the text format
	line []byte
	all  []*Snapshot
}

// Write writes the metrics of the subnets in the OpenMetrics 1.0 format or in the Prometheus text format 0.0.4. The
// samples have no time stamps, because Prometheus rejects samples that are old or out of order. Their age is a metric.
func Write(to io.Writer, all []*Snapshot, openMetrics bool) error {
	w := &writer{Writer: bufio.NewWriterSize(to, 64<<10), open: openMetrics, all: all}
	for _, s := range all {
		s.label = label(s.Subnet)
		s.results = map[kind]map[fabric.NodeIndex]outcome{switches: s.outcomes(switches), hosts: s.outcomes(hosts)}
	}
	for _, k := range []kind{switches, hosts} {
		for c := range counters.All.All() {
			w.counters(k, c)
		}
		for nth := range details {
			w.details(k, nth)
		}
		w.nodes(k)
		w.collected(k)
	}
	w.hardware()
	w.portStates()
	w.exporter()
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

// sample writes a sample with the label of the subnet and further labels.
func (w *writer) sample(s *Snapshot, name, more string, value float64) {
	if more != "" {
		more = "," + more
	}
	_, _ = fmt.Fprintf(w, "%s{subnet=\"%s\"%s} %s\n", name, s.label, more,
		strconv.FormatFloat(value, 'g', -1, 64))
}

// details are the metrics of the details of receive errors, in the order of the attribute. The spelling dli is that of
// infiniband_exporter.
var details = [...]struct{ name, help string }{
	{"port_local_physical_errors", "packets received with a physical error at this port"},
	{"port_malformed_packet_errors", "packets received that are malformed"},
	{"port_buffer_overrun_errors", "packets received that overran the buffer"},
	{"port_dli_mapping_errors", "packets received that the DLID did not allow to forward"},
	{"port_vl_mapping_errors", "packets received that the mapping of VLs did not allow to forward"},
	{"port_looping_errors", "packets received whose output port is the input port"},
}

// oldest is the maximum age of the counters of a port. Older values are not exported: an idle port would look the same.
const oldest = 10 * time.Minute

// ports yields the linked ports of a kind of devices in a reading. Like infiniband_exporter, it leaves out ports
// without a peer, which have no sample of uplink_info to join with.
func (s *Snapshot) ports(r *counters.Reading, k kind) iter.Seq2[*counters.Port, *fabric.Port] {
	return func(yield func(*counters.Port, *fabric.Port) bool) {
		if r == nil || s.NoPorts {
			return
		}
		for i := range r.Ports {
			p := &r.Ports[i]
			at := &r.Fabric.Ports[p.Port]
			exported := at.Linked() && time.Since(p.At) < oldest && kindOf(&r.Fabric.Nodes[at.Node]) == k
			if exported && !yield(p, at) {
				return
			}
		}
	}
}

// counters writes the samples of one counter. Data counters count words of 4 bytes and are exported in bytes.
func (w *writer) counters(k kind, c counters.Counter) {
	end, help := c.Metric()
	name := w.lazily("infiniband_"+string(k)+"_"+end, counter, help)
	for _, s := range w.all {
		r := s.Errors
		if counters.Data.Has(c) {
			r = s.Traffic
		}
		for p, at := range s.ports(r, k) {
			if !p.Has.Has(c) {
				continue
			}
			w.port(s, name(), r.Fabric.Nodes[at.Node].GUID, at.Num)
			if c == counters.XmitData || c == counters.RcvData {
				w.number(4 * float64(p.Values[c]))
			} else {
				w.whole(p.Values[c])
			}
		}
	}
}

// details writes the samples of one of the details of receive errors.
func (w *writer) details(k kind, nth int) {
	name := w.lazily("infiniband_"+string(k)+"_"+details[nth].name, counter, details[nth].help)
	for _, s := range w.all {
		for p, at := range s.ports(s.Errors, k) {
			if p.Details != nil {
				w.port(s, name(), s.Errors.Fabric.Nodes[at.Node].GUID, at.Num)
				w.whole(uint64(*p.Details.Counters()[nth]))
			}
		}
	}
}

// lazily returns a function that writes the head of a family when it is called first, and returns the name of the
// samples.
func (w *writer) lazily(name, kind, help string) func() string {
	sample := ""
	return func() string {
		if sample == "" {
			sample = w.family(name, kind, help)
		}
		return sample
	}
}

// port begins w.line with the name and labels of a port.
func (w *writer) port(s *Snapshot, name string, guid uint64, num uint8) {
	w.line = append(w.line[:0], name...)
	w.line = append(w.line, `{subnet="`...)
	w.line = append(w.line, s.label...)
	w.line = append(w.line, `",guid="0x`...)
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

// nodes writes the names of nodes, the rates of their links, and the peers of their ports. The rate of an adapter is
// that of its fastest link, without a label of the port.
func (w *writer) nodes(k kind) {
	each := func(do func(s *Snapshot, f *fabric.Fabric, n *fabric.Node)) {
		for _, s := range w.all {
			for i := range s.Fabric.Nodes {
				if n := &s.Fabric.Nodes[i]; !s.NoPorts && n.InSubnet && kindOf(n) == k {
					do(s, s.Fabric, n)
				}
			}
		}
	}
	info := w.lazily("infiniband_"+string(k)+"_info", gauge, "names of nodes")
	each(func(s *Snapshot, f *fabric.Fabric, n *fabric.Node) {
		w.sample(s, info(), fmt.Sprintf(`guid="0x%016x",%s="%s",lid="%d"`, n.GUID, k, label(n.Desc), lidOf(f, n)), 1)
	})
	for _, rate := range []struct {
		name, help string
		of         func(*fabric.Port) float64
	}{
		{"rate", "data rate of links", (*fabric.Port).DataRate},
		{"raw_rate", "signaling rate of links", (*fabric.Port).SignalRate},
	} {
		if k == switches {
			rate.name = "port_" + rate.name
		}
		name := w.lazily("infiniband_"+string(k)+"_"+rate.name+"_bytes_per_second", gauge, rate.help)
		each(func(s *Snapshot, f *fabric.Fabric, n *fabric.Node) {
			fastest := 0.0
			for p := range n.Slots() {
				bytes := rate.of(&f.Ports[p])
				switch {
				case !f.Ports[p].Linked() || bytes == 0:
				case k == switches:
					w.port(s, name(), n.GUID, f.Ports[p].Num)
					w.number(bytes)
				default:
					fastest = max(fastest, bytes)
				}
			}
			if fastest > 0 {
				w.sample(s, name(), fmt.Sprintf(`guid="0x%016x"`, n.GUID), fastest)
			}
		})
	}
	uplink := w.lazily("infiniband_"+string(k)+"_uplink_info", gauge, "peers of ports")
	each(func(s *Snapshot, f *fabric.Fabric, n *fabric.Node) {
		for p := range n.Slots() {
			if !f.Ports[p].Linked() {
				continue
			}
			q := &f.Ports[f.Ports[p].Peer]
			peer := &f.Nodes[q.Node]
			w.sample(s, uplink(), fmt.Sprintf(`guid="0x%016x",port="%d",%s="%s"`, n.GUID, f.Ports[p].Num, k,
				label(n.Desc))+fmt.Sprintf(`,uplink="%s",uplink_guid="0x%016x",uplink_type="%s"`, label(peer.Desc),
				peer.GUID, typeOf(peer))+fmt.Sprintf(`,uplink_port="%d",uplink_lid="%d"`, q.Num,
				f.Ports[f.EndPortOf(f.Ports[p].Peer)].LID), 1)
		}
	})
}

// outcome is the result of reading the counters of a device.
type outcome struct {
	first, last     time.Time // of the first request and of the last answer
	failed, timeout bool
}

// outcomes returns the results of the last round by node, for a kind of devices.
func (s *Snapshot) outcomes(k kind) map[fabric.NodeIndex]outcome {
	of := map[fabric.NodeIndex]outcome{}
	r := s.last()
	if r == nil {
		return of
	}
	for i := range r.Ports {
		p := &r.Ports[i]
		n := r.Fabric.Ports[p.Port].Node
		if kindOf(&r.Fabric.Nodes[n]) != k || p.At.IsZero() {
			continue
		}
		o := of[n]
		if began := p.At.Add(-p.Took); o.first.IsZero() || began.Before(o.first) {
			o.first = began
		}
		if p.At.After(o.last) {
			o.last = p.At
		}
		of[n] = o
	}
	for _, u := range r.Unanswered {
		n := r.Fabric.Ports[u.Port].Node
		if kindOf(&r.Fabric.Nodes[n]) != k {
			continue
		}
		o := of[n]
		if errors.Is(u.Err, mad.ErrTimeout) {
			o.timeout = true
		} else {
			o.failed = true
		}
		of[n] = o
	}
	return of
}

// collected writes for each device of a kind how long the last round took and how it ended. A device that did not
// respond has no duration.
func (w *writer) collected(k kind) {
	for _, m := range []struct {
		name, help string
		value      func(outcome) float64
	}{
		{"duration_seconds", "time between the first request to a device and its last answer", func(o outcome) float64 {
			if o.first.IsZero() {
				return unknown
			}
			return o.last.Sub(o.first).Seconds()
		}},
		{"error", "whether reading a device failed for another reason than a time-out", func(o outcome) float64 {
			return number(o.failed)
		}},
		{"timeout", "whether a device did not answer in time", func(o outcome) float64 {
			return number(o.timeout)
		}},
	} {
		name := w.lazily("infiniband_"+string(k)+"_collect_"+m.name, gauge, m.help)
		for _, s := range w.all {
			of := s.results[k]
			if s.NoPorts || len(of) == 0 {
				continue
			}
			f := s.last().Fabric
			for n := range f.Nodes {
				o, ok := of[fabric.NodeIndex(n)]
				if v := m.value(o); ok && v != unknown {
					w.sample(s, name(), fmt.Sprintf(`guid="0x%016x",collector="%s"`, f.Nodes[n].GUID, k), v)
				}
			}
		}
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// collectorSweep is the value of the label collector for sweeps.
const collectorSweep = "ibnetdiscover"

// exporter writes the metrics of the exporter itself.
func (w *writer) exporter() {
	each := func(name, help string, ofSweep func(*Snapshot) float64, ofRound func(*Snapshot, kind) float64) {
		head := w.lazily("infiniband_exporter_"+name, gauge, help)
		for _, s := range w.all {
			w.sample(s, head(), `collector="`+collectorSweep+`"`, ofSweep(s))
			for _, k := range []kind{switches, hosts} {
				if s.last() != nil {
					w.sample(s, head(), fmt.Sprintf(`collector="%s"`, k), ofRound(s, k))
				}
			}
		}
	}
	count := func(is func(outcome) bool) func(*Snapshot, kind) float64 {
		return func(s *Snapshot, k kind) (n float64) {
			for _, o := range s.results[k] {
				n += number(is(o))
			}
			return n
		}
	}
	failed := count(func(o outcome) bool { return o.failed })
	each("collector_duration_seconds", "duration of the last sweep and of the last round of counters",
		func(s *Snapshot) float64 { return s.Took.Seconds() },
		func(s *Snapshot, _ kind) float64 { return s.Read.Seconds() })
	each("collect_errors", "devices that could not be read in the last round", func(s *Snapshot) float64 {
		return number(s.SweepFailed)
	}, func(s *Snapshot, k kind) float64 { return number(s.RoundFailed) + failed(s, k) })
	each("collect_timeouts", "devices that did not answer in time in the last round", func(*Snapshot) float64 {
		return 0
	}, count(func(o outcome) bool { return o.timeout }))
	each("last_execution", "Unix time of the last sweep and of the last round of counters", func(s *Snapshot) float64 {
		return float64(s.Swept.Unix())
	}, func(s *Snapshot, _ kind) float64 { return float64(s.Ended.Unix()) })
	age := w.lazily("ibconsole_reading_age_seconds", gauge, "age of the oldest value among the exported counters")
	for _, s := range w.all {
		for _, r := range []struct {
			label   string
			reading *counters.Reading
		}{{"errors", s.Errors}, {"data", s.Traffic}} {
			if r.reading == nil || len(r.reading.Ports) == 0 {
				continue
			}
			first := r.reading.Ports[0].At
			for i := range r.reading.Ports {
				if at := r.reading.Ports[i].At; at.Before(first) {
					first = at
				}
			}
			w.sample(s, age(), fmt.Sprintf(`counters="%s"`, r.label), time.Since(first).Seconds())
		}
	}
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
	name := w.lazily("ibconsole_port_state", gauge, "logical state of a port: 1 down, 2 initialize, 3 armed, 4 active")
	for _, s := range w.all {
		f := s.Fabric
		for i := range f.Nodes {
			n := &f.Nodes[i]
			for p := range n.Slots() {
				if port := &f.Ports[p]; !s.NoPorts && n.InSubnet && port.State != 0 {
					w.port(s, name(), n.GUID, port.Num)
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
	one := func(name, kind, help string, value func(*Snapshot) float64) {
		head := w.lazily(name, kind, help)
		for _, s := range w.all {
			if v := value(s); v != unknown {
				w.sample(s, head(), "", v)
			}
		}
	}
	one("ibconsole_sweep_timestamp_seconds", gauge, "time of the last sweep", func(s *Snapshot) float64 {
		return float64(s.Swept.UnixMilli()) / 1000
	})
	one("ibconsole_sweep_duration_seconds", gauge, "duration of the last sweep", func(s *Snapshot) float64 {
		return s.Took.Seconds()
	})
	one("ibconsole_nodes", gauge, "nodes in the subnet", func(s *Snapshot) float64 {
		return float64(s.Fabric.Inventory().InSubnet.Nodes)
	})
	one("ibconsole_links", gauge, "links in the subnet", func(s *Snapshot) float64 {
		return float64(s.Fabric.Inventory().InSubnet.Links)
	})
	one("ibconsole_unanswered_ports", gauge, "ports that did not respond in the last round of counters",
		func(s *Snapshot) float64 {
			if s.Ended.IsZero() {
				return unknown
			}
			return float64(s.Unanswered)
		})
	one("ibconsole_worst_load_paths", gauge, "maximum number of paths per link between switches, all to all",
		func(s *Snapshot) float64 {
			return float64(max(s.WorstLoad, unknown))
		})
	one("ibconsole_events", counter, "events since the start of the recorder", func(s *Snapshot) float64 {
		return float64(s.Events)
	})
	name := w.lazily("ibconsole_problems", gauge, "problems by kind")
	for _, s := range w.all {
		if s.Problems != nil {
			w.problems(s, name)
		}
	}
}

func (w *writer) problems(s *Snapshot, name func() string) {
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
		w.sample(s, name(), fmt.Sprintf(`kind="%s",severity="%s"`, label(k.kind), k.severity), float64(n[k]))
	}
}
