// SPDX-License-Identifier: Apache-2.0

package subnetmap

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/fabric/limits"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// measure is a quantity that colours the cells.
type measure struct {
	name, help string
	scale      draw.Scale
	// of returns the value of a port. It returns false if the value was not read.
	of func(s *network, p fabric.PortIndex) (float64, bool)
	// sum is set if the value of a switch is the sum over its ports. Otherwise it is the largest.
	sum bool
	// node returns the value of a switch, for a quantity of switches.
	node func(s *network, n fabric.NodeIndex) (float64, bool)
	text func(v float64) string
	// none returns the reason why no value is known, or "".
	none func(s *network) string
}

const (
	byLoad = iota
	byErrors
	byUse
	byTemperature
	numMeasures
)

var measures = [numMeasures]measure{
	byLoad: {
		name: "load", help: "most paths over a link between switches, in either direction, divided by its limit: the " +
			"paths at which it is as busy as the links of hosts, or its even share among the links of its tier",
		scale: pane.LoadScale, of: (*network).loadOf, text: limitText,
		none: func(s *network) string {
			switch {
			case s.sc.WhyNoTables != "":
				return s.sc.WhyNoTables
			case s.counting.Err != nil:
				return s.counting.Err.Error()
			case s.isComputing():
				return prose.When(s.counting.Progress() == "", "computing", s.counting.Progress())
			}
			return ""
		},
	},
	byErrors: {
		name: "errors", help: "errors that the ports counted in the hour before the state shown",
		scale: draw.Scale{From: [5]float64{0, 1, 1, 1, float64(errorLimit())}, Warn: 3, Bad: 4,
			Words: [5]string{"none", "", "", "some", fmt.Sprintf("%d and more", errorLimit())}},
		sum: true,
		of: func(s *network, p fabric.PortIndex) (float64, bool) {
			n, text := s.sc.RecentErrors(s.of.Fabric, p)
			return float64(n), s.sc.Recent() != nil && text != "?"
		},
		text: func(v float64) string { return prose.Thousands(int(v)) }, none: noRecords,
	},
	byUse: {
		name: "utilization", help: "share of the data rate that the busiest port sent in the hour before the state " +
			"shown",
		scale: pane.UseScale,
		of: func(s *network, p fabric.PortIndex) (float64, bool) {
			n, _ := s.sc.RecentUse(s.of.Fabric, p)
			return float64(n) / 100, n >= 0
		},
		text: draw.Percent, none: noRecords,
	},
	byTemperature: {
		name: "temperature", help: "temperature of the hottest sensor of the switch, or of the module of the port",
		scale: draw.Scale{From: [5]float64{-300, -299, 60, problems.WarmDegrees, problems.HotDegrees}, Warn: 3, Bad: 4,
			Words: [5]string{"", "to 60 C", "above", celsius(problems.WarmDegrees), celsius(problems.HotDegrees)}},
		of: func(s *network, p fabric.PortIndex) (float64, bool) {
			if h := s.health().At(p); h != nil && h.Cable != nil && h.Cable.Measured {
				return float64(h.Cable.Celsius), true
			}
			return 0, false
		},
		node: func(s *network, n fabric.NodeIndex) (float64, bool) {
			if h := s.health().NodeAt(n); h != nil {
				hottest := h.Hottest()
				return hottest.Value, hottest.Known
			}
			return 0, false
		},
		text: func(v float64) string { return fmt.Sprintf("%.0f C", v) },
		none: func(s *network) string {
			return prose.When(s.health().HasNodes(), "", notRead+"an ibdiagnet folder has temperatures")
		},
	},
}

func measureNames() []string {
	return prose.Words(measures[:], func(m measure) string { return m.name })
}

// errorLimit returns the number of symbol errors per hour that raises an alert by default.
func errorLimit() uint64 {
	for _, r := range limits.Defaults() {
		if r.Counter == counters.SymbolErrors {
			return r.Limit
		}
	}
	return 0
}

func celsius(limit int) string { return fmt.Sprintf("from %d C", limit) }

func limitText(v float64) string { return draw.Times(v) + " of limit" }

// notRead precedes the reason why values were not read.
const notRead = "not read: "

func noRecords(s *network) string {
	switch {
	case s.unread != nil:
		return notRead + s.unread.Error()
	case s.sc.Recent() == nil:
		return notRead + "record start records counters"
	}
	return ""
}

// health returns the health data of the fabric that is drawn, or nil.
func (s *network) health() *health.Report {
	st := &s.sc.State
	for _, p := range []*session.Picture{s.sc.Picture, st.Base, st.Live} {
		if p != nil && p.Health != nil && len(p.Fabric.Ports) == len(s.of.Fabric.Ports) {
			return p.Health
		}
	}
	return nil
}

// loadOf returns the paths over a link in the direction with most paths, divided by its limit.
func (s *network) loadOf(p fabric.PortIndex) (float64, bool) {
	l, lim, f := s.loads(), s.common.Limits(s.sc), s.of.Fabric
	if l == nil || len(l.Paths) != len(f.Ports) || !l.Fabric.Ports[p].Linked() {
		return 0, false
	}
	out, known := l.OfLimit(lim, p)
	in, also := l.OfLimit(lim, l.Fabric.Ports[p].Peer)
	return max(out, in), known || also
}

// value is the value of a switch or port.
type value struct {
	v     float64
	known bool
	none  bool             // the object has nothing that could be measured
	port  fabric.PortIndex // where the value is highest, None for none
}

func (s *network) textOf(m *measure, v value) string {
	switch {
	case v.none:
		return "-"
	case v.known:
		return m.text(v.v)
	case m != &measures[byLoad]:
		return "not read"
	case s.isComputing():
		return "computing"
	}
	return "unknown"
}

// isComputing reports whether the load will be known.
func (s *network) isComputing() bool {
	return s.sc.WhyNoTables == "" && s.counting.Err == nil && s.loads() == nil
}

// values are the values of the switches, by measure.
type values struct {
	by    [numMeasures][]value
	worst [numMeasures]fabric.SwitchIndex
}

// valuesOf returns the values of all switches, by switch index. It computes them once for each scene. O(ports).
func (s *network) valuesOf(kind int) []value {
	if s.values.by[kind] == nil {
		m, f := &measures[kind], s.of.Fabric
		list, worst := make([]value, len(f.Switches)), fabric.SwitchIndex(fabric.None)
		for _, sw := range s.switches {
			list[sw] = s.switchValue(kind, m, sw)
			if v := &list[sw]; v.known && v.v > 0 && (worst == fabric.None || v.v > list[worst].v) {
				worst = sw
			}
		}
		s.values.by[kind], s.values.worst[kind] = list, worst
	}
	return s.values.by[kind]
}

// worst returns the switch with the largest value, or None.
func (s *network) worst(kind int) fabric.SwitchIndex {
	s.valuesOf(kind)
	return s.values.worst[kind]
}

// switchValue returns the value of a switch: the sum or the maximum over its ports. If some ports were not read, a
// value without urgency is not known.
func (s *network) switchValue(kind int, m *measure, sw fabric.SwitchIndex) value {
	f, out := s.of.Fabric, value{port: fabric.None, known: true, none: true}
	if m.node != nil {
		v, known := m.node(s, f.Switches[sw])
		return value{v: v, known: known, port: fabric.None}
	}
	most, unread := 0.0, false
	for p := range f.SwitchNode(sw).Ports() {
		if !f.Ports[p].Linked() || kind == byLoad && linkload.ClassOf(f, p) != linkload.BetweenSwitches {
			continue
		}
		if s.sc.FailedLink(p) {
			continue
		}
		v, known := m.of(s, p)
		out.none = false
		if !known {
			unread = true
			continue
		}
		if m.sum {
			out.v += v
		}
		if v > most || out.port == fabric.None {
			most, out.port = v, p
		}
	}
	if !m.sum {
		out.v = most
	}
	out.known = !out.none && (!unread || m.scale.Urgent(out.v))
	return out
}

func (s *network) portValue(m *measure, p fabric.PortIndex) value {
	if !s.of.Fabric.Ports[p].Linked() || s.sc.FailedLink(p) {
		return value{none: true, port: fabric.None}
	}
	v, known := m.of(s, p)
	return value{v: v, known: known, port: p}
}

// peerText returns the name of the port at the other end of a link, or the reason why there is none.
func (s *network) peerText(p fabric.PortIndex) string {
	f := s.of.Fabric
	switch {
	case s.lost[p]:
		return "link lost"
	case !f.Ports[p].Linked():
		return "no link"
	}
	return f.PortName(f.Ports[p].Peer)
}

// isDown reports whether the link of a port has failed in the what-if, or was lost.
func (s *network) isDown(p fabric.PortIndex) bool { return s.lost[p] || s.sc.FailedLink(p) }

// downs counts the links of a switch that are down. The field all is set if the switch has no other links.
type downs struct {
	links int
	all   bool
}

func (s *network) downOf(sw fabric.SwitchIndex) (links int, all bool) {
	if s.downs == nil {
		f := s.of.Fabric
		s.downs = make([]downs, len(f.Switches))
		for i := range f.NumSwitches() {
			d, up := &s.downs[i], 0
			for p := range f.SwitchNode(i).Ports() {
				if s.isDown(p) {
					d.links++
				} else if f.Ports[p].Linked() {
					up++
				}
			}
			d.all = d.links > 0 && up == 0 || s.sc.FailedNode(f.Switches[i])
		}
	}
	return s.downs[sw].links, s.downs[sw].all
}
