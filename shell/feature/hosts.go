// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/slurm"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/joblinks"
	"example.org/ibconsole/shell/session/jobs"
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

// SetPrefix begins the name of a set of hosts where a host or a host list could be meant as well.
const SetPrefix = "@"

// JobSet returns the name of the set of the hosts of a job.
func JobSet(id string) string { return "job-" + strings.ReplaceAll(id, "+", ".") }

// setsFor is the time before now for which recorded sets of hosts are known by their names.
const setsFor = 30 * 24 * time.Hour

// HostSet returns the set of hosts with a name: that of the command hosts, otherwise the last one that was recorded in
// a period. Without a period it is one of the last 30 days.
func (c *Call) HostSet(name string, since, until time.Time) (*joblinks.Run, error) {
	if since.IsZero() {
		since = time.Now().Add(-setsFor)
	}
	if until.IsZero() {
		until = time.Now()
	}
	set, names, err := joblinks.Named(c.Ctx, c.Session, name, since, until)
	if err == nil && set == nil {
		err = noSet(names, name)
	}
	return set, err
}

// Hosts returns the hosts that an option names in a period: @SET, a host list of Slurm, or SET if no host has this
// name.
func (c *Call) Hosts(word string, since, until time.Time) (*joblinks.Run, error) {
	if name, isSet := strings.CutPrefix(word, SetPrefix); isSet {
		return c.HostSet(name, since, until)
	}
	list := &joblinks.Run{Job: jobs.Job{ID: word, Hosts: word, From: since, Until: until}}
	st := c.Session.State()
	ends, _, err := list.Ends(st.Live.Fabric, &places.HostFinder{Fabric: st.Live.Fabric})
	if err != nil || len(ends) > 0 || !HostSetName.MatchString(word) {
		return list, err
	}
	if set, _, err := joblinks.Named(c.Ctx, c.Session, word, since, until); err != nil || set != nil {
		return set, err
	}
	return list, nil
}

// SetMembers returns the end ports of a named set of hosts, and the number of its hosts that the fabric does not have.
// Unreachable end ports are last.
func (c *Call) SetMembers(f *fabric.Fabric, name string) ([]fabric.PortIndex, int, error) {
	st := c.Session.State()
	if set := st.Sets.Named(name); set != nil {
		ends, unreachable, missing := set.In(f)
		return append(ends, unreachable...), missing, nil
	}
	set, err := c.HostSet(name, time.Time{}, time.Time{})
	if err != nil {
		return nil, 0, err
	}
	return set.Ends(f, &places.HostFinder{Fabric: f})
}

// NoSet returns the error for a set of hosts that the session does not have.
func NoSet(st *session.State, name string) error {
	return noSet(prose.Words(st.Sets, func(s session.HostSet) string { return s.Name }), name)
}

// noSet returns the error for an unknown set of hosts. It suggests a similar name.
func noSet(names []string, name string) error {
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
