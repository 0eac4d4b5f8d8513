// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// ReadHosts reads a file of end ports: words as [places.Resolve] takes them, with the quoting of the command language.
// # starts a comment. An error names file and line.
func ReadHosts(ctx context.Context, f *fabric.Fabric, name string) ([]fabric.PortIndex, error) {
	in, err := files.Open(ctx, name, files.List)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var hosts []fabric.PortIndex
	first := map[fabric.PortIndex]int{}
	name = fabric.Escape(name)
	err = lang.Lines(in, name, func(stmts []lang.Statement) error {
		for _, s := range stmts {
			for _, word := range s.Words {
				p, err := places.Resolve(f, word)
				if err != nil {
					return fmt.Errorf("%s:%d: %w", name, s.Line, err)
				}
				end := f.EndPortOf(p.Port)
				if line, twice := first[end]; twice {
					return fmt.Errorf("%s:%d: %s stands on line %d already", name, s.Line, f.PortName(end), line)
				}
				first[end] = s.Line
				hosts = append(hosts, end)
			}
		}
		return nil
	})
	if err == nil && len(hosts) < 2 {
		err = fmt.Errorf("%s: %s in it, two are needed", name, prose.Count(len(hosts), "host"))
	}
	return hosts, err
}

// SetMembers returns the end ports of a named set of hosts, the unreachable ones last.
func SetMembers(st *session.State, f *fabric.Fabric, name string) ([]fabric.PortIndex, error) {
	set := st.Set(name)
	if set == nil {
		return nil, NoSet(st, name)
	}
	ends, unreachable, _ := set.In(f)
	return append(ends, unreachable...), nil
}

// NoSet returns the error that no set of hosts has a name, with the names that there are.
func NoSet(st *session.State, name string) error {
	names := prose.Words(st.Sets, func(s session.HostSet) string { return s.Name })
	if len(names) == 0 {
		return fmt.Errorf("no set of hosts is called %q: there are none yet (try: hosts %s node[0001-0064])", fabric.Escape(name), fabric.Escape(name))
	}
	if near := prose.Nearest(name, names); near != "" {
		return fmt.Errorf("no set of hosts is called %q: did you mean %q?", fabric.Escape(name), near)
	}
	return fmt.Errorf("no set of hosts is called %q (hosts lists them)", fabric.Escape(name))
}
