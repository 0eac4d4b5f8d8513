// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/shell/lang"
)

// readHosts reads a file of end ports: words as [places.Resolve] takes them, with
// the quoting of the command language. # starts a comment. An error names file and
// line.
func readHosts(ctx context.Context, f *fabric.Fabric, name string) ([]fabric.PortIndex, error) {
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
		err = fmt.Errorf("%s: %s in it, two are needed", name, count(len(hosts), "host"))
	}
	return hosts, err
}
