// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/slurm"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// ReadHosts reads a file of end ports. The file has words for [places.Resolve], quoted as in the command language. #
// starts a comment. Errors contain the file and the line.
func ReadHosts(ctx context.Context, f *fabric.Fabric, name string) ([]fabric.PortIndex, error) {
	in, err := files.Open(ctx, name, files.List)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var hosts []fabric.PortIndex
	first := map[fabric.PortIndex]int{}
	finder := places.NewFinder(f)
	name = fabric.Escape(name)
	err = lang.Lines(in, name, func(stmts []lang.Statement) error {
		for _, s := range stmts {
			for _, word := range s.Words {
				p, err := finder.Resolve(word)
				if err != nil {
					return fmt.Errorf("%s:%d: %w", name, s.Line, err)
				}
				end := f.EndPortOf(p.Port)
				if line, twice := first[end]; twice {
					return fmt.Errorf("%s:%d: %s is already listed in line %d", name, s.Line, f.PortName(end), line)
				}
				first[end] = s.Line
				hosts = append(hosts, end)
			}
		}
		return nil
	})
	if err == nil && len(hosts) < 2 {
		err = fmt.Errorf("%s: %s, expected at least 2", name, prose.Count(len(hosts), "host"))
	}
	return hosts, err
}

// SetMembers returns the end ports of a named set of hosts. Unreachable end ports are last.
func SetMembers(st *session.State, f *fabric.Fabric, name string) ([]fabric.PortIndex, error) {
	set := st.Sets.Named(name)
	if set == nil {
		return nil, NoSet(st, name)
	}
	ends, unreachable, _ := set.In(f)
	return append(ends, unreachable...), nil
}

// NoSet returns the error for an unknown set of hosts. It suggests a similar name.
func NoSet(st *session.State, name string) error {
	names := prose.Words(st.Sets, func(s session.HostSet) string { return s.Name })
	if len(names) == 0 {
		return fmt.Errorf("unknown host set %q: no set is defined; hint: 'hosts %s node[0001-0064]' defines a "+
			"set",
			fabric.Escape(name), fabric.Escape(name))
	}
	if near := prose.Nearest(name, names); near != "" {
		return fmt.Errorf("unknown host set %q: did you mean %q?", fabric.Escape(name), near)
	}
	return fmt.Errorf("unknown host set %q; hint: 'hosts' lists the sets", fabric.Escape(name))
}

// SetOf returns a set of hosts with a name.
func SetOf(name string, f *fabric.Fabric, ends []fabric.PortIndex) session.HostSet {
	set := session.HostSet{Name: name}
	for _, e := range ends {
		set.Ports = append(set.Ports, f.Ports[e].GUID)
	}
	return set
}

// HostFinder finds hosts by name, including the hosts of host lists of Slurm.
type HostFinder struct {
	Fabric *fabric.Fabric
	byName map[string][]fabric.PortIndex // end ports by Slurm's name of their host
}

// Find returns the end ports of the hosts that word names: a host list, a host, or a switch, which means all its hosts.
func (h *HostFinder) Find(word string) ([]fabric.PortIndex, error) {
	names, err := slurm.Expand(word)
	if err != nil {
		return nil, err
	}
	if h.byName == nil {
		h.byName = map[string][]fabric.PortIndex{}
		for _, e := range h.Fabric.EndPorts {
			if n := &h.Fabric.Nodes[h.Fabric.Ports[e].Node]; !n.IsSwitch() {
				name := HostName(n)
				h.byName[name] = append(h.byName[name], e)
			}
		}
	}
	var ends []fabric.PortIndex
	for _, name := range names {
		if found := h.byName[name]; found != nil {
			ends = append(ends, found...)
			continue
		}
		at, err := places.Resolve(h.Fabric, name)
		if err != nil {
			return nil, err
		}
		if n := &h.Fabric.Nodes[at.Node]; n.IsSwitch() {
			ends = append(ends, h.attached(n)...)
			continue
		}
		ends = append(ends, h.Fabric.EndPortOf(at.Port))
	}
	return ends, nil
}

// JobEnds returns the end ports of the hosts of a job, a host list of Slurm, and the names of hosts that the fabric
// does not have.
func (h *HostFinder) JobEnds(list string) (ends []fabric.PortIndex, missing []string, err error) {
	names, err := slurm.Expand(list)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		found, err := h.Find(name)
		if err != nil {
			missing = append(missing, name)
		}
		ends = append(ends, found...)
	}
	slices.Sort(ends)
	return slices.Compact(ends), missing, nil
}

// attached returns the end ports of the hosts that are attached to a switch.
func (h *HostFinder) attached(n *fabric.Node) []fabric.PortIndex {
	var ends []fabric.PortIndex
	for p := range n.Ports() {
		if h.Fabric.Ports[p].Linked() && !h.Fabric.Nodes[h.Fabric.PeerNode(p)].IsSwitch() &&
			!h.Fabric.IsAggregation(h.Fabric.PeerNode(p)) {
			ends = append(ends, h.Fabric.EndPortOf(h.Fabric.Ports[p].Peer))
		}
	}
	return ends
}

// HostWords returns arguments of the command hosts for the given nodes. Instead of a switch it returns its hosts.
func HostWords(f *fabric.Fabric, nodes []fabric.NodeIndex) string {
	finder := HostFinder{Fabric: f}
	var hosts, words []string
	for _, n := range nodes {
		node := &f.Nodes[n]
		name := HostName(node)
		ends, err := finder.Find(name)
		alone := err == nil && len(ends) > 0 && !slices.ContainsFunc(ends, func(e fabric.PortIndex) bool {
			return f.Ports[e].Node != n
		})
		switch {
		case node.IsSwitch() || !alone:
			words = append(words, lang.Quote(places.NodeRef(f, n)))
		default:
			hosts = append(hosts, name)
		}
	}
	if len(hosts) > 0 {
		words = append(words, slurm.Hostlist(hosts))
	}
	return strings.Join(words, " ")
}

// HostName returns the name of the host that contains an adapter.
func HostName(n *fabric.Node) string { return slurm.NodeName(n.Desc, n.GUID) }

// NameHosts adds a set of hosts to the session. It replaces a set with the same name. A set without ports only removes
// that set.
func NameHosts(s *session.Session, set session.HostSet) {
	s.Publish(session.ChangeSettings, func(st *session.State) { st.Sets = st.Sets.With(set) })
}
