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

const mostPreviewed = 5 // how many differences a preview names

// Preview says in sentences what [session.Session.Load] would find in a file, how it differs from the paper's
// subnet, and what will be done. Nothing changes. It fails where the file cannot be read as that kind.
func Preview(ctx context.Context, s *session.Session, kind, path string) ([]string, error) {
	d, err := find(kind)
	if err != nil {
		return nil, err
	}
	st := s.State()
	paper := st.Paper()
	switch {
	case d.Over:
		return []string{
			"It is laid over the tables that are there; the result is staged, and nothing is written to switches.",
		}, nil
	case kind == loading.RoutingKind:
		return []string{
			"It is held against the subnet, what is still valid of it is used, and the rest is computed; the result " +
				"is staged, and nothing is written to switches.",
		}, nil
	case d.Option != "":
		return []string{fmt.Sprintf("The engine routes with %s from the next route on.", d.Option)}, nil
	case d.Routes:
		return previewRoutes(ctx, s, kind, path, &st)
	}
	file, err := formats.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	says := []string{
		fmt.Sprintf("It is a subnet of %s, %d of them switches, with %s.", prose.Count(len(file.Fabric.Nodes), "node"),
			len(file.Fabric.Switches), prose.Count(len(file.Fabric.Links()), "link")),
	}
	says = append(says, file.Unread.Lines(mostPreviewed)...)
	changes := fabric.Changes(paper, file.Fabric)
	if len(changes) == 0 {
		says = append(says, "It does not differ from the subnet at hand.")
	} else {
		says = append(says, fmt.Sprintf("It differs from the subnet at hand in %s:",
			prose.Count(len(changes), "thing")))
	}
	shown, more := prose.Cut(changes, mostPreviewed)
	for _, c := range shown {
		says = append(says, "  "+c.String())
	}
	if more != "" {
		says = append(says, "  "+more)
	}
	return append(says, "The what-if then starts from it: simulated failures are dropped, staged tables of "+
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
		return nil, fmt.Errorf("%s: none of its switches is in the subnet at hand", fabric.Escape(path))
	}
	g := &res.Figures
	says := []string{
		fmt.Sprintf("It belongs to the subnet at hand: %d of its %d switches get %d entries.", g.Switches,
			len(job.Fabric.Switches), g.Entries),
	}
	if job.Before != nil {
		says = append(says, fmt.Sprintf("%s other than those of %s%s.", prose.Verb(g.Changed, "entry", "is", "are"),
			job.Against, diff.NotCompared(g.Unread)))
	}
	says = append(says, rep.Lines()...)
	return append(says, "The tables are staged then, in place of those that are staged now, and nothing is written "+
		"to switches."), nil
}
