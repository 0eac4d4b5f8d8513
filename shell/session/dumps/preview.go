// SPDX-License-Identifier: Apache-2.0

package dumps

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/loading"
)

const maxListed = 5 // number of differences that a preview lists

// Preview describes in sentences what [session.Session.Load] would do with a file: its contents, its differences from
// the simulated subnet, and the result. It changes nothing. It returns an error if the file is not of the given kind.
func Preview(ctx context.Context, s *session.Session, kind, path string) ([]string, error) {
	d, err := formOf(kind)
	if err != nil {
		return nil, err
	}
	st := s.State()
	subnet := st.Paper()
	switch {
	case d.Over:
		return []string{
			"It replaces a part of the existing tables. The result is staged, and nothing is written to switches.",
		}, nil
	case kind == loading.RoutingKind:
		return []string{
			"It is compared with the subnet. Routes that are still valid are kept, and the others are computed. The " +
				"result is staged, and nothing is written to switches.",
		}, nil
	case d.Option != "":
		return []string{fmt.Sprintf("The engine uses %s from the next route on.", d.Option)}, nil
	case d.Routes:
		return previewRoutes(ctx, s, kind, path, &st)
	}
	file, err := formats.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	lines := []string{
		fmt.Sprintf("It is a subnet of %s, %d of them switches, with %s.", prose.Count(len(file.Fabric.Nodes), "node"),
			len(file.Fabric.Switches), prose.Count(len(file.Fabric.Links()), "link")),
	}
	lines = append(lines, file.Unread.Lines(maxListed)...)
	changes := fabric.Changes(subnet, file.Fabric)
	if len(changes) == 0 {
		lines = append(lines, "It does not differ from the current subnet.")
	} else {
		lines = append(lines, fmt.Sprintf("It has %s from the current subnet:",
			prose.Count(len(changes), "difference")))
	}
	shown, more := prose.Cut(changes, maxListed)
	for _, c := range shown {
		lines = append(lines, "  "+c.String())
	}
	if more != "" {
		lines = append(lines, "  "+more)
	}
	return append(lines, "It becomes the base of the what-if. Simulated failures are discarded, staged tables of "+
		"another subnet become stale, and nothing is written to switches."), nil
}

func previewRoutes(ctx context.Context, s *session.Session, kind, path string, st *session.State) ([]string, error) {
	routes, err := loading.ReadRoutes(ctx, kind, path)
	if err != nil {
		return nil, err
	}
	job := s.Job(st)
	job.GroupsOf = ""
	res, rep, err := compute.ApplyFile(ctx, job, routes)
	if err != nil {
		return nil, err
	}
	if res == nil {
		return nil, fmt.Errorf("%s: none of its switches is in the current subnet", fabric.Escape(path))
	}
	g := &res.Figures
	lines := []string{
		fmt.Sprintf("It belongs to the current subnet: %d of its %d switches get %d entries.", g.Switches,
			len(job.Fabric.Switches), g.Entries),
	}
	if job.Before != nil {
		lines = append(lines, fmt.Sprintf("%s from those of %s%s.", prose.Verb(g.Changed, "entry", "differs", "differ"),
			job.Against, diff.NotCompared(g.Unread)))
	}
	lines = append(lines, rep.Lines()...)
	return append(lines, "The tables replace the staged ones, and nothing is written to switches."), nil
}
