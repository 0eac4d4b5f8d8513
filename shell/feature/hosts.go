// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/slurm"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/history/records"
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

// ReadHostSets reads a file of sets of hosts. Each line has a name and host lists of Slurm, as arguments of the command
// hosts. # starts a comment. Errors contain the file and the line.
func ReadHostSets(ctx context.Context, name string) ([]records.HostSet, error) {
	in, err := files.Open(ctx, name, files.List)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var all []records.HostSet
	name = fabric.Escape(name)
	err = lang.Lines(in, name, func(stmts []lang.Statement) error {
		for _, s := range stmts {
			refuse := func(format string, args ...any) error {
				return fmt.Errorf("%s:%d: %w", name, s.Line, fmt.Errorf(format, args...))
			}
			x := records.HostSet{Name: s.Words[0], Hosts: strings.Join(s.Words[1:], ",")}
			switch _, err := slurm.Expand(x.Hosts); {
			case !HostSetName.MatchString(x.Name):
				return refuse("invalid name %q, %s", x.Name, HostSetNames)
			case x.Hosts == "":
				return refuse("%s has no hosts, expected NAME HOSTS", x.Name)
			case err != nil:
				return refuse("%w", err)
			case slices.ContainsFunc(all, func(h records.HostSet) bool { return h.Name == x.Name }):
				return refuse("%s is defined twice", x.Name)
			}
			all = append(all, x)
		}
		return nil
	})
	return all, err
}

// HostSetName matches the name of a set of hosts.
var HostSetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// HostSetNames describes the names of sets of hosts.
const HostSetNames = "expected at most 40 letters, digits, dots, dashes and underscores"

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

// HostWords returns arguments of the command hosts for the given nodes. Instead of a switch it returns its hosts.
func HostWords(f *fabric.Fabric, nodes []fabric.NodeIndex) string {
	finder := places.HostFinder{Fabric: f}
	var hosts, words []string
	for _, n := range nodes {
		node := &f.Nodes[n]
		name := places.HostName(node)
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

// NameHosts adds a set of hosts to the session. It replaces a set with the same name. A set without ports only removes
// that set.
func NameHosts(s *session.Session, set session.HostSet) {
	s.Publish(session.ChangeSettings, func(st *session.State) { st.Sets = st.Sets.With(set) })
}
