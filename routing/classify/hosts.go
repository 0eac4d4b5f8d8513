// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Kind is the purpose of a host.
type Kind uint8

// The kinds of hosts.
const (
	KindHost Kind = iota
	KindStorage
	KindGateway
	KindService // login, management and other nodes that do not compute
)

// String returns the kind as a word.
func (k Kind) String() string { return [...]string{"host", "storage", "gateway", "service"}[k] }

// Host is a machine, with all adapters whose names contain the name of the machine.
type Host struct {
	Name string
	Kind Kind
	// Adapters are the linked ports of the host, as indexes of [Classes.Adapters].
	Adapters []int
}

// Nodes counts the nodes of the subnet.
type Nodes struct {
	// Adapters counts the channel adapters that are not aggregation nodes.
	Switches, Adapters, Aggregation, Routers int
	// Hosts counts hosts by [Kind].
	Hosts [KindService + 1]int
}

// Hosts returns the machines, in the order of the fabric's end ports.
func (s *Structure) Hosts() []Host { return s.hosts }

// findHosts groups the adapters by host, and counts the nodes.
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
	if s.Nodes.Switches == 0 { // adapters that are cabled to each other
		s.Nodes.Hosts[KindHost] = s.Nodes.Adapters
	}
}

// kindOf returns the kind of a host that has this adapter.
func kindOf(a *Adapter) Kind {
	switch {
	case a.Role == Compute:
		return KindHost
	case a.Kind != KindHost:
		return a.Kind
	}
	return KindService
}

// number returns the number of the adapter in its host. If the adapter has several ports, it returns the number of the
// port.
func (s *Structure) number(adapter int) int {
	p := &s.Fabric.Ports[s.Adapters[adapter].End]
	n := &s.Fabric.Nodes[p.Node]
	if n.NumPorts > 1 {
		return int(p.Num)
	}
	number, _ := adapterNumber(n.Desc)
	return number
}

// adapterNumber returns the number of an adapter in a description such as "node-0001 HCA-1" or "node-0001 mlx5_0",
// counted from 1. ok is false if the description has no number.
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
	if digits > 0 && adapter[digits-1] == '_' { // Linux counts from 0
		number++
	}
	return number, true
}

// pattern returns the escaped name with # for each number.
func pattern(name string) string {
	var b strings.Builder
	digit := false
	for i := range len(name) {
		was := digit
		if digit = name[i] >= '0' && name[i] <= '9'; !digit {
			b.WriteByte(name[i])
		} else if !was {
			b.WriteByte('#')
		}
	}
	return fabric.Escape(b.String())
}

// hostName returns the name of the host in a node description such as "node-0001 HCA-1".
func hostName(desc string) string {
	host, _, _ := strings.Cut(strings.TrimSpace(desc), " ")
	return host
}

// serviceWords maps words in the names of hosts that do not compute to the purpose of these hosts.
var serviceWords = func() map[string]Kind {
	words := map[string]Kind{}
	for kind, list := range map[Kind]string{
		KindStorage: "backup data gpfs io ion lustre mds mdt mgs mgt nas nfs nsd oss ost srp storage stor target",
		KindGateway: "bridge gateway gw lnet router skyway",
		KindService: "admin login master mgmt monitor sched service svc ufm visu",
	} {
		for w := range strings.FieldsSeq(list) {
			words[w] = kind
		}
	}
	return words
}()

// serviceWord returns the first word in a host's name that marks a service node, or "" if there is none. Words consist
// of letters.
func serviceWord(host string) string {
	for _, w := range strings.FieldsFunc(strings.ToLower(host), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if serviceWords[w] != KindHost {
			return w
		}
	}
	return ""
}
