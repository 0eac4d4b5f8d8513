// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/health"
)

// Hardware holds the hardware of nodes as an ibdiagnet folder describes it.
type Hardware struct {
	Fabric *fabric.Fabric
	Health *health.Report
	When   time.Time // when ibdiagnet ran
}

// OldestHardware is the maximum age of a folder. The data of an older folder are not exported.
const OldestHardware = 24 * time.Hour

// hardware writes the metrics that infiniband_exporter reads with ibswinfo, except for the power of power supplies,
// which ibdiagnet does not report. Values that were not read have no samples.
func (w *writer) hardware() {
	const prefix = "infiniband_switch_"
	each := func(name, help string, do func(n *health.Node, sample func(labels string, value float64)), naming bool) {
		head := w.lazily(prefix+name, gauge, help)
		for _, s := range w.all {
			h := s.Hardware
			if h == nil || s.NoPorts || time.Since(h.When) > OldestHardware {
				continue
			}
			for i := range h.Fabric.NumNodes() {
				node, n := &h.Fabric.Nodes[i], h.Health.NodeAt(i)
				if n == nil || !node.IsSwitch() {
					continue
				}
				do(n, func(labels string, value float64) {
					if naming {
						labels += fmt.Sprintf(`,switch="%s"`, label(node.Desc))
					}
					w.sample(s, head(), fmt.Sprintf(`guid="0x%016x"%s`, node.GUID, labels), value)
				})
			}
		}
	}
	each("hardware_info", "hardware of switches", func(n *health.Node, sample func(string, float64)) {
		if n.Firmware+n.PSID+n.Part+n.Serial != "" {
			sample(fmt.Sprintf(`,firmware_version="%s",psid="%s",part_number="%s",serial_number="%s"`,
				label(n.Firmware), label(n.PSID), label(n.Part), label(n.Serial)), 1)
		}
	}, true)
	each("uptime_seconds", "time since the start of switches", func(n *health.Node, sample func(string, float64)) {
		if n.Uptime.Known {
			sample("", n.Uptime.Value)
		}
	}, false)
	for _, part := range []struct {
		name, help string
		state      func(*health.Supply) string
	}{
		{"status_info", "status of power supplies", func(s *health.Supply) string { return s.Alert }},
		{"dc_power_status_info", "status of the DC power of power supplies", func(s *health.Supply) string {
			return s.DC
		}},
		{"fan_status_info", "status of the fans of power supplies", func(s *health.Supply) string { return s.Fan }},
	} {
		each("power_supply_"+part.name, part.help, func(n *health.Node, sample func(string, float64)) {
			for i := range n.Supplies {
				if state := part.state(&n.Supplies[i]); state != "" {
					sample(fmt.Sprintf(`,psu="%d",status="%s"`, n.Supplies[i].Index, label(strings.ToUpper(state))), 1)
				}
			}
		}, false)
	}
	each("temperature_celsius", "temperature of switches", func(n *health.Node, sample func(string, float64)) {
		for _, t := range n.Sensors {
			if t.Celsius.Known {
				sample("", t.Celsius.Value)
				return
			}
		}
	}, false)
	each("fan_status_info", "status of the fans of switches", func(n *health.Node, sample func(string, float64)) {
		if len(n.Fans) > 0 {
			sample(fmt.Sprintf(`,status="%s"`, fanStatus(n.Fans)), 1)
		}
	}, false)
	each("fan_rpm", "speed of the fans of switches", func(n *health.Node, sample func(string, float64)) {
		for _, f := range n.Fans {
			if f.RPM.Known {
				sample(fmt.Sprintf(`,fan="%d"`, f.Index), f.RPM.Value)
			}
		}
	}, false)
}

// fanStatus returns the status of the fans in the words of ibswinfo.
func fanStatus(fans []health.Fan) string {
	unread := false
	for i := range fans {
		f := &fans[i]
		if f.OutsideLimits() {
			return "ERROR"
		}
		unread = unread || !f.RPM.Known || !f.Min.Known
	}
	if unread {
		return "UNKNOWN"
	}
	return "OK"
}
