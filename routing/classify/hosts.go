// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/mad"
)

// Kind says what a host is for.
type Kind uint8

// The kinds of hosts.
const (
	KindHost Kind = iota
	KindStorage
	KindGateway
	KindService // login, management and others that do not compute
)

// String is the kind as a word.
func (k Kind) String() string { return [...]string{"host", "storage", "gateway", "service"}[k] }

// Host is a machine, with all its adapters by the names of which it is the same.
type Host struct {
	Name string
	Kind Kind
	// Adapters are its linked ports, as indexes of [Classes].
	Adapters []int
}

// Nodes counts what is in the subnet.
type Nodes struct {
	// Switches are those of the subnet; Adapters the channel adapters without aggregation nodes.
	Switches, Adapters, Aggregation, Routers int
	// Hosts are by [Kind].
	Hosts [KindService + 1]int
}

// Hosts are the machines, in the order of the fabric's end ports.
func (s *Structure) Hosts() []Host { return s.hosts }

// findHosts puts the adapters of hosts together, and counts the nodes.
func (s *Structure) findHosts() {
	f := s.Fabric
	for i := range f.NumNodes() {
		n := &f.Nodes[i]
		switch {
		case !n.InSubnet:
		case n.IsSwitch():
			s.Nodes.Switches++
		case n.Type == mad.NodeRouter:
			s.Nodes.Routers++
		case n.Type == mad.NodeCA && s.IsAggregation(i):
			s.Nodes.Aggregation++
		case n.Type == mad.NodeCA:
			s.Nodes.Adapters++
		}
	}
	at := map[string]int{}
	for i := range s.Adapters {
		a := &s.Adapters[i]
		if a.Role == Aggregation {
			continue
		}
		n := &f.Nodes[f.Ports[a.End].Node]
		name := hostName(n.Desc)
		key := name
		if _, named := adapterNumber(n.Desc); !named {
			key = "\x00" + strconv.FormatUint(n.GUID, 16)
		}
		h, ok := at[key]
		if !ok {
			h, at[key] = len(s.hosts), len(s.hosts)
			s.hosts = append(s.hosts, Host{Name: name, Kind: kindOf(a)})
		}
		s.hosts[h].Adapters = append(s.hosts[h].Adapters, i)
	}
	for i := range s.hosts {
		slices.SortStableFunc(s.hosts[i].Adapters, func(a, b int) int { return cmp.Compare(s.number(a), s.number(b)) })
		s.Nodes.Hosts[s.hosts[i].Kind]++
	}
}

// kindOf tells a host's kind by one of its adapters.
func kindOf(a *Adapter) Kind {
	switch {
	case a.Role == Compute:
		return KindHost
	case a.Kind != KindHost:
		return a.Kind
	}
	return KindService
}

// number is the adapter's number in its host, or that of its port.
func (s *Structure) number(adapter int) int {
	p := &s.Fabric.Ports[s.Adapters[adapter].End]
	n := &s.Fabric.Nodes[p.Node]
	if n.NumPorts > 1 {
		return int(p.Num)
	}
	number, _ := adapterNumber(n.Desc)
	return number
}

// adapterNumber is the number of an adapter in a description such as "node-0001 HCA-1" or "node-0001 mlx5_0", counted
// from 1; ok is false where the description has none.
func adapterNumber(desc string) (number int, ok bool) {
	_, adapter, ok := strings.Cut(strings.TrimSpace(desc), " ")
	if !ok {
		return 0, false
	}
	digits := len(adapter)
	for digits > 0 && adapter[digits-1] >= '0' && adapter[digits-1] <= '9' {
		digits--
	}
	if digits == len(adapter) || len(adapter)-digits > 4 {
		return 0, false
	}
	number, _ = strconv.Atoi(adapter[digits:])
	if digits > 0 && adapter[digits-1] == '_' { // as Linux counts
		number++
	}
	return number, true
}
