// SPDX-License-Identifier: Apache-2.0

// Package metrics writes what is known of a subnet for Prometheus: by the names that treydock/infiniband_exporter made
// usual, and ours for what that does not have.
package metrics

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/inorder"
)

// Snapshot is what is written.
type Snapshot struct {
	Fabric *fabric.Fabric
	// Errors and Traffic are the last readings of these counters, nil before there was one; of a counter that both
	// have Traffic's is not taken.
	Errors, Traffic *counters.Reading
	// Swept is when the subnet was read last, and Took how long that was; Read is how long a round of counters took.
	Swept time.Time
	Took  time.Duration
	Read  time.Duration
	// Unanswered is how many ports did not answer the last round.
	Unanswered int
	Problems   *problems.Report
	// WorstLoad is how many paths the busiest link between switches has, below 0 where that is not known.
	WorstLoad int64
	Events    int // since the console began
}

// usual are the ends of the names of counters, after infiniband_switch_ or infiniband_hca_.
var usual = [counters.NumCounters]struct{ name, help string }{
	counters.SymbolErrors:         {"port_symbol_error", "minor link errors"},
	counters.LinkErrorRecovery:    {"port_link_error_recovery", "times that the link recovered from errors by itself"},
	counters.LinkDowned:           {"port_link_downed", "times that the link went down"},
	counters.RcvErrors:            {"port_receive_errors", "packets received with errors"},
	counters.RcvRemotePhysical:    {"port_receive_remote_physical_errors", "packets received that were marked bad on their way"},
	counters.RcvSwitchRelay:       {"port_receive_switch_relay_errors", "packets that a switch could not relay"},
	counters.XmitDiscards:         {"port_transmit_discards", "packets discarded as they could not be sent"},
	counters.XmitConstraintErrors: {"port_transmit_constraint_errors", "packets not sent for constraints"},
	counters.RcvConstraintErrors:  {"port_receive_constraint_errors", "packets received and discarded for constraints"},
	counters.LocalLinkIntegrity:   {"port_local_link_integrity_errors", "times that local physical errors were too many"},
	counters.BufferOverruns:       {"port_excessive_buffer_overrun_errors", "times that buffers overran again and again"},
	counters.VL15Dropped:          {"port_vl15_dropped", "management packets dropped for want of buffers"},
	counters.XmitWait:             {"port_transmit_wait", "ticks in which data waited for credits"},
	counters.QP1Dropped:           {"port_qp1_dropped", "packets for queue pair 1 that were dropped"},
	counters.XmitData:             {"port_transmit_data_bytes", "bytes sent"},
	counters.RcvData:              {"port_receive_data_bytes", "bytes received"},
	counters.XmitPackets:          {"port_transmit_packets", "packets sent"},
	counters.RcvPackets:           {"port_receive_packets", "packets received"},
	counters.UnicastXmitPackets:   {"port_unicast_transmit_packets", "unicast packets sent"},
	counters.UnicastRcvPackets:    {"port_unicast_receive_packets", "unicast packets received"},
	counters.MulticastXmitPackets: {"port_multicast_transmit_packets", "multicast packets sent"},
	counters.MulticastRcvPackets:  {"port_multicast_receive_packets", "multicast packets received"},
}

// The types of metrics.
const (
	gauge   = "gauge"
	counter = "counter"
)

// writer writes families of metrics in one of two forms.
type writer struct {
	*bufio.Writer
	open bool // OpenMetrics, not the older text
	line []byte
}

// Write writes all of it, as OpenMetrics 1.0 or as Prometheus' text 0.0.4.
func Write(to io.Writer, s *Snapshot, openMetrics bool) error {
	w := &writer{Writer: bufio.NewWriterSize(to, 64<<10), open: openMetrics}
	for _, kind := range []struct {
		name     string
		switches bool
	}{{"switch", true}, {"hca", false}} {
		for c := range counters.All.All() {
			w.counters(s, kind.name, kind.switches, c)
		}
		w.nodes(s, kind.name, kind.switches)
	}
	w.links(s)
	w.rest(s)
	if w.open {
		_, _ = w.WriteString("# EOF\n")
	}
	return w.Flush()
}

// family begins a metric. A counter's samples are called NAME_total; so is the family in the older form.
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

// label puts a label's value between quotes.
func label(text string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ToValidUTF8(text, "?"))
}

// counters are those of the ports of switches, or of others. Data is counted in words, and told in bytes.
func (w *writer) counters(s *Snapshot, kind string, switches bool, c counters.Counter) {
	r := s.Errors
	if counters.Data.Has(c) {
		r = s.Traffic
	}
	if r == nil {
		return
	}
	name := ""
	for i := range r.Ports {
		p := &r.Ports[i]
		at := &r.Fabric.Ports[p.Port]
		node := &r.Fabric.Nodes[at.Node]
		if !p.Has.Has(c) || node.IsSwitch() != switches {
			continue
		}
		if name == "" {
			name = w.family("infiniband_"+kind+"_"+usual[c].name, counter, usual[c].help)
		}
		w.port(name, node.GUID, at.Num)
		if c == counters.XmitData || c == counters.RcvData {
			w.number(4 * float64(p.Values[c]))
		} else {
			w.whole(p.Values[c])
		}
	}
}

// port begins the line of a port.
func (w *writer) port(name string, guid uint64, num uint8) {
	w.line = append(w.line[:0], name...)
	w.line = append(w.line, `{guid="0x`...)
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

// nodes are names, rates and what is at the other ends.
func (w *writer) nodes(s *Snapshot, kind string, switches bool) {
	f := s.Fabric
	each := func(do func(n *fabric.Node)) {
		for i := range f.Nodes {
			if n := &f.Nodes[i]; n.InSubnet && n.IsSwitch() == switches {
				do(n)
			}
		}
	}
	name := w.family("infiniband_"+kind+"_info", gauge, "names of nodes")
	each(func(n *fabric.Node) {
		_, _ = fmt.Fprintf(w, "%s{guid=\"0x%016x\",%s=\"%s\",lid=\"%d\"} 1\n", name, n.GUID, kind, label(n.Desc), lidOf(f, n))
	})
	name = w.family("infiniband_"+kind+"_rate_bytes_per_second", gauge, "the rate of the fastest link of a node")
	each(func(n *fabric.Node) {
		fastest := 0.0
		for p := range n.Slots() {
			if f.Ports[p].Linked() {
				fastest = max(fastest, f.Ports[p].Gbps())
			}
		}
		_, _ = fmt.Fprintf(w, "%s{guid=\"0x%016x\"} %g\n", name, n.GUID, fastest*1e9/8)
	})
	name = w.family("infiniband_"+kind+"_uplink_info", gauge, "what is at the other ends of links")
	each(func(n *fabric.Node) {
		for p := range n.Slots() {
			if !f.Ports[p].Linked() {
				continue
			}
			q := &f.Ports[f.Ports[p].Peer]
			peer := &f.Nodes[q.Node]
			_, _ = fmt.Fprintf(w, "%s{guid=\"0x%016x\",port=\"%d\",%s=\"%s\",uplink=\"%s\",uplink_guid=\"0x%016x\",uplink_type=\"%s\",uplink_port=\"%d\",uplink_lid=\"%d\"} 1\n",
				name, n.GUID, f.Ports[p].Num, kind, label(n.Desc), label(peer.Desc), peer.GUID, typeOf(peer), q.Num, f.Ports[f.EndPortOf(f.Ports[p].Peer)].LID)
		}
	})
}

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

// links are the states of ports.
func (w *writer) links(s *Snapshot) {
	name := w.family("ibconsole_port_state", gauge, "logical state of a port: 1 down, 2 initialize, 3 armed, 4 active")
	f := s.Fabric
	for i := range f.Nodes {
		n := &f.Nodes[i]
		for p := range n.Slots() {
			if port := &f.Ports[p]; n.InSubnet && port.State != 0 {
				w.port(name, n.GUID, port.Num)
				w.whole(uint64(port.State))
			}
		}
	}
}

// rest are figures of the subnet, and how they were come by.
func (w *writer) rest(s *Snapshot) {
	one := func(name, help string, v float64) {
		name = w.family(name, gauge, help)
		_, _ = fmt.Fprintf(w, "%s %s\n", name, strconv.FormatFloat(v, 'g', -1, 64))
	}
	one("ibconsole_sweep_timestamp_seconds", "when the subnet was read last", float64(s.Swept.UnixMilli())/1000)
	one("ibconsole_sweep_duration_seconds", "how long the last sweep took", s.Took.Seconds())
	one("ibconsole_nodes", "nodes in the subnet", float64(len(s.Fabric.Nodes)))
	one("ibconsole_links", "links in the subnet", float64(len(s.Fabric.Links())))
	one("ibconsole_unanswered_ports", "ports that did not answer the last round of counters", float64(s.Unanswered))
	if s.WorstLoad >= 0 {
		one("ibconsole_worst_load_paths", "paths over the busiest link between switches, all to all", float64(s.WorstLoad))
	}
	name := w.family("infiniband_exporter_collector_duration_seconds", gauge, "how long the last round of counters took")
	_, _ = fmt.Fprintf(w, "%s{collector=\"ibconsole\"} %g\n", name, s.Read.Seconds())
	events := w.family("ibconsole_events", counter, "events since the recorder began")
	_, _ = fmt.Fprintf(w, "%s %d\n", events, s.Events)
	if s.Problems == nil {
		return
	}
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
	inorder.Sort(keys, func(a, b key) int { return strings.Compare(a.kind+a.severity, b.kind+b.severity) })
	name = w.family("ibconsole_problems", gauge, "problems by kind")
	for _, k := range keys {
		_, _ = fmt.Fprintf(w, "%s{kind=\"%s\",severity=\"%s\"} %d\n", name, label(k.kind), k.severity, n[k])
	}
}
