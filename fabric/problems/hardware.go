// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/internal/base/prose"
)

// The limits of the temperature of switches and adapters in degrees Celsius. Both are our choice: vendors publish no
// limits.
const (
	HotDegrees  = 105
	WarmDegrees = 95
)

// maxListed is the maximum number of nodes that a problem lists by name.
const maxListed = 3

// Hardware reports hot nodes, faults of fans and power supplies, and nodes of one model with different firmware.
func (r *Report) Hardware(f *fabric.Fabric, h *health.Report) {
	if !h.HasNodes() {
		return
	}
	for i := range f.NumNodes() {
		n := h.NodeAt(i)
		if n == nil {
			continue
		}
		at, name := PlaceOfNode(f, i), f.NodeName(i)
		if hottest := n.Hottest(); hottest.Known && hottest.Value >= WarmDegrees {
			severity := Warning
			if hottest.Value >= HotDegrees {
				severity = Error
			}
			r.AddAs(severity, HotNode, at, "check the cooling: fans, blanking panels, adjacent devices",
				"%s is at %.0f degrees Celsius", name, hottest.Value)
		}
		r.fans(at, name, n)
		r.supplies(at, name, n)
	}
	r.firmware(f, h)
}

func (r *Report) fans(at Place, name string, n *health.Node) {
	var wrong []string
	for i := range n.Fans {
		if fan := &n.Fans[i]; fan.OutsideLimits() {
			wrong = append(wrong, fmt.Sprintf("fan %d at %.0f rpm, expected %s", fan.Index, fan.RPM.Value, limits(fan)))
		}
	}
	if len(wrong) > 0 {
		r.Add(FanFault, at, "replace the fan", "%s: %s", name, strings.Join(wrong, "; "))
	}
}

// limits returns the permitted speeds of a fan as text.
func limits(fan *health.Fan) string {
	switch {
	case !fan.Max.Known:
		return fmt.Sprintf("at least %.0f", fan.Min.Value)
	case !fan.Min.Known:
		return fmt.Sprintf("at most %.0f", fan.Max.Value)
	}
	return fmt.Sprintf("%.0f to %.0f", fan.Min.Value, fan.Max.Value)
}

func (r *Report) supplies(at Place, name string, n *health.Node) {
	var wrong []string
	for i := range n.Supplies {
		if fault := SupplyFaultOf(&n.Supplies[i]); fault != "" {
			wrong = append(wrong, fmt.Sprintf("power supply %d: %s", n.Supplies[i].Index, fault))
		}
	}
	if len(wrong) > 0 {
		r.Add(SupplyFault, at, "check the power feed, then replace the power supply",
			"%s: %s", name, strings.Join(wrong, "; "))
	}
}

// The values of ibdiagnet for parts of a power supply without a fault, in lower case.
var (
	presentWords = []string{"", "1", "0x1", "yes", "true", "present", "ok"}
	soundWords   = []string{"", "ok", "0", "0x0", "no", "none", "no alert", "normal", "n/a"}
)

// SupplyFaultOf returns the fault of a power supply, escaped, "" if it reports none.
func SupplyFaultOf(s *health.Supply) string {
	if !slices.Contains(presentWords, strings.ToLower(s.Present)) {
		return "not present"
	}
	var faults []string
	for _, part := range []struct{ name, state string }{{"DC", s.DC}, {"alert", s.Alert}, {"fan", s.Fan}} {
		if !slices.Contains(soundWords, strings.ToLower(part.state)) {
			faults = append(faults, part.name+" "+fabric.Escape(part.state))
		}
	}
	return strings.Join(faults, ", ")
}

// firmware reports nodes whose firmware differs from that of most nodes of their model. The PSID identifies the model.
func (r *Report) firmware(f *fabric.Fabric, h *health.Report) {
	models := map[string]map[string][]fabric.NodeIndex{} // by PSID and firmware
	for i := range f.NumNodes() {
		if n := h.NodeAt(i); n != nil && n.PSID != "" && n.Firmware != "" {
			if models[n.PSID] == nil {
				models[n.PSID] = map[string][]fabric.NodeIndex{}
			}
			models[n.PSID][n.Firmware] = append(models[n.PSID][n.Firmware], i)
		}
	}
	for _, psid := range slices.Sorted(maps.Keys(models)) {
		versions := models[psid]
		if len(versions) < 2 {
			continue
		}
		names := slices.SortedFunc(maps.Keys(versions), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(versions[b]), len(versions[a])), cmp.Compare(b, a))
		})
		all := 0
		for _, nodes := range versions {
			all += len(nodes)
		}
		for _, version := range names[1:] {
			nodes := versions[version]
			r.Add(FirmwareDiffers, PlaceOfNode(f, nodes[0]), "update the firmware; inventory",
				"firmware %s on %d of %d nodes with PSID %s, %s on %d: %s", fabric.Escape(version), len(nodes), all,
				fabric.Escape(psid), fabric.Escape(names[0]), len(versions[names[0]]), listNodes(f, nodes))
		}
	}
}

// listNodes returns the names of the first nodes, and the number of the others.
func listNodes(f *fabric.Fabric, nodes []fabric.NodeIndex) string {
	text := strings.Join(prose.Words(nodes[:min(len(nodes), maxListed)], f.NodeName), ", ")
	if more := len(nodes) - maxListed; more > 0 {
		text += " " + prose.More(more)
	}
	return text
}

// GenericNames reports hosts whose descriptions do not identify them, with the switch ports to which they are attached.
func (r *Report) GenericNames(f *fabric.Fabric) {
	var hosts []fabric.NodeIndex
	for i := range f.NumNodes() {
		if f.IsGeneric(i) {
			hosts = append(hosts, i)
		}
	}
	if len(hosts) == 0 {
		return
	}
	at := prose.Words(hosts[:min(len(hosts), maxListed)], func(n fabric.NodeIndex) string {
		where := "without a link"
		for p := range f.Nodes[n].Ports() {
			if peer := f.Ports[p].Peer; peer != fabric.None {
				where = "at " + f.PortName(peer)
				break
			}
		}
		return fmt.Sprintf("%s %s", fabric.Escape(strings.TrimSpace(f.Nodes[n].Desc)), where)
	})
	text := strings.Join(at, ", ")
	if more := len(hosts) - len(at); more > 0 {
		text += " " + prose.More(more)
	}
	r.Add(GenericName, PlaceOfNode(f, hosts[0]), "start rdma-ndd on the hosts, or write a node-name map; "+
		"inventory generic", "%s a description without a host name: %s", prose.Verb(len(hosts), "host", "has", "have"),
		text)
}

// Limits for [Report.Parts]. A part is reported if its cables have errors so much more often than the other cables that
// chance explains it with a probability of at most partChance.
const (
	partChance = 1e-3
	leastBad   = 3 // cables with errors
)

// Part counts the cables of a part number.
type Part struct {
	Vendor, Number string
	Cables, Bad    int
	Judged         bool             // error counters or bit error rates were read
	first          fabric.PortIndex // of the first cable with errors
}

// PartsOf counts the cables of each part number, by vendor and number. The argument reading has the error counters; it
// is nil if they were not read. O(ports).
func PartsOf(f *fabric.Fabric, h *health.Report, reading *counters.Reading) []Part {
	faulty := map[fabric.PortIndex]bool{}
	if reading != nil {
		for i := range reading.Ports {
			p := &reading.Ports[i]
			faulty[p.Port] = p.Beyond(&totals)&(linkFaults|signal) != 0
		}
	}
	// isBad reports whether a port has errors, and whether they were read.
	isBad := func(at fabric.PortIndex) (bad, read bool) {
		if at == fabric.None {
			return false, false
		}
		bad, read = faulty[at]
		if p := h.At(at); p != nil {
			bad, read = bad || poor(p), read || p.BER[health.SymbolBER].Known || p.BER[health.EffectiveBER].Known
		}
		return bad, read
	}
	parts := map[string]*Part{}
	for _, at := range h.Ports() {
		c, peer := h.At(at).Cable, f.Ports[at].Peer
		if c == nil || c.Part == "" {
			continue
		}
		if other := h.At(peer); peer != fabric.None && peer < at && other != nil && other.Cable != nil {
			continue // counted at its other end
		}
		key := c.Vendor + "\x00" + c.Part
		p := parts[key]
		if p == nil {
			p = &Part{Vendor: c.Vendor, Number: c.Part, first: fabric.None}
			parts[key] = p
		}
		p.Cables++
		bad, read := isBad(at)
		farBad, farRead := isBad(peer)
		p.Judged = p.Judged || read || farRead
		if !bad && !farBad {
			continue
		}
		if p.Bad++; p.first == fabric.None {
			p.first = at
		}
	}
	list := make([]Part, 0, len(parts))
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		list = append(list, *parts[key])
	}
	return list
}

// Parts reports part numbers whose cables have errors more often than other cables.
func (r *Report) Parts(f *fabric.Fabric, parts []Part) {
	all, bad := 0, 0
	for i := range parts {
		all += parts[i].Cables
		bad += parts[i].Bad
	}
	for i := range parts {
		p := &parts[i]
		if p.Bad < leastBad || atLeastByChance(p.Bad, p.Cables, bad, all) > partChance {
			continue
		}
		r.Add(BadPart, PlaceOfPort(f, p.first), "replace cables of this part, or ask its vendor",
			"%d of %d cables of part %s have errors, %d of %d others", p.Bad, p.Cables,
			fabric.Escape(strings.TrimSpace(p.Vendor+" "+p.Number)), bad-p.Bad, all-p.Cables)
	}
}

// poor reports whether a bit error rate of a port is above the limit of warnings.
func poor(p *health.Port) bool {
	for _, k := range [...]int{health.SymbolBER, health.EffectiveBER} {
		if p.BER[k].Known && p.BER[k].Value > poorBER {
			return true
		}
	}
	return false
}

// atLeastByChance returns the probability that at least k of n random cables are among the bad ones of all cables
// (Fisher's exact test, one-sided).
func atLeastByChance(k, n, bad, all int) float64 {
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	total := choose(all, n)
	sum := 0.0
	for i := k; i <= min(n, bad); i++ {
		if n-i <= all-bad {
			sum += math.Exp(choose(bad, i) + choose(all-bad, n-i) - total)
		}
	}
	return sum
}
