// SPDX-License-Identifier: Apache-2.0

// Package check checks the routes between all end ports: whether paths arrive, credit loops, multicast and the load.
package check

import (
	"errors"
	"strings"

	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

const (
	strictHelp = "The verdict is ok, found or unknown. It is unknown if the check found no fault but data was not " +
		"read, such as the\nforwarding table of a switch. If the verdict is unknown, check fails, unless " +
		"strict=no is given.\n"
	unknownHelp = "Some credit loops depend on the service levels (SLs) of paths and on the SL2VL tables. The " +
		"switches do not hold the SLs\nof paths. The verdict is unknown until both are known. sweep full sl2vl reads " +
		"the SL2VL tables. sweep full sl reads\nthe SLs; engine from=FILE followed by calibrate computes the SLs.\n"
)

// Feature is the commands check.
var Feature = feature.Feature{Name: "check", Keys: []feature.Key{
	{Name: "pane-6", Keys: "6", Pane: "Load", Nouns: "links", Help: "number of paths over each link"},
}, Commands: []feature.Command{
	{
		Path: "check", Group: feature.GroupLook, Bare: true,
		Summary: "Check the routes between all end ports",
		Help: "Without a subcommand, check runs reach, credits and load, and also mcast if multicast tables " +
			"are known.\n" + strictHelp +
			unknownHelp + loadHelp,
		Options: []lang.Option{
			feature.OfOption(), {
				Name: "switches", Kind: lang.KindFlag, Summary: "count port 0 of switches among the end ports",
			}, feature.StrictOption(),
		},
		Examples: []string{"fail switch spine-02; route; check reach; check credits", "check"},
		Answers:  []answer.Declared{reachDecl, &creditsDecl, &mcastDecl, &loadDecl},
		Run:      run(all),
	},
	{
		Path:    "check reach",
		Summary: "Follow every path to see whether it arrives",
		Examples: []string{
			"check reach",
			"fail switch spine-02; route; check reach",
		},
		Answers: []answer.Declared{reachDecl},
		Run:     run(reaches),
	},
	{
		Path:    "check loops",
		Summary: "Find paths that return to a switch",
		Examples: []string{
			"check loops",
			"fail switch spine-02; route incremental; check loops",
		},
		Answers: []answer.Declared{loopsDecl},
		Run:     run(loops),
	},
	{
		Path:     "check credits",
		Summary:  "Find credit loops: cycles of links that wait for each other",
		Help:     unknownHelp,
		Options:  feature.PathOptions(),
		Examples: []string{"check credits", "engine updn; route; check credits"},
		Answers:  []answer.Declared{&creditsDecl},
		Run:      run(creditLoops),
	},
	{
		Path:    "check mcast",
		Summary: "Check that all members of multicast groups are reached",
		Help: "check mcast follows the packets that each member of a group sends. It also finds credit loops of " +
			"multicast and unicast together.\n",
		Examples: []string{
			"sweep full mft; check mcast",
			"load groups opensm-sa.dump; route; check mcast",
		},
		Answers: []answer.Declared{&mcastDecl},
		Run:     run(multicast),
	},
	{
		Path: "check load", Bare: true,
		Summary: "Count the paths over each link",
		Help:    loadHelp,
		Options: append(feature.PathOptions(), []lang.Option{
			{Name: "pattern", Kind: lang.KindText, Value: "PATTERN", Summary: patternWords},
			{Name: "seed", Kind: lang.KindInt, Summary: "seed of random bisections (default 1)"},
			{
				Name: "order", Kind: lang.KindWord, Words: []string{"name", "ca"},
				Summary: "ca: order the hosts by the ca-order of ftree's tables (see dump ca-order)",
			},
		}...),
		Examples: []string{
			"check load", "check load pattern=all", "check load pattern=shift:5", "adaptive on; check load",
		},
		Answers: []answer.Declared{&loadDecl},
		Run:     run(load),
	},
	{
		Path:    "check load measured",
		Summary: "Compare the traffic of links with their number of paths",
		Help:    measuredHelp,
		Options: []lang.Option{
			{
				Name: "pattern", Kind: lang.KindText, Value: "hosts:FILE|hosts:@SET",
				Summary: "paths among these hosts (default: all to all)",
			},
			{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "use counters recorded after this time; " +
				when.Help},
			{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "use counters recorded before this " +
				"time (default now)"},
			{Name: "limit", Kind: lang.KindInt, Summary: "number of listed items (default 20)"},
		},
		Examples: []string{"check load measured", "check load measured since=1h"},
		Answers:  []answer.Declared{&measuredDecl},
		Run:      run(measured),
	},
}}

// checker is one check: it checks the tables of a state and writes an answer.
type checker func(*feature.Call, *session.State, *session.Picture) error

func run(check checker) func(*feature.Call) error {
	return func(c *feature.Call) error {
		st, p, err := c.Tables()
		if err != nil {
			return err
		}
		return check(c, st, p)
	}
}

// The function all runs every check. The returned error contains the findings of every check.
func all(c *feature.Call, st *session.State, p *session.Picture) error {
	checks := []checker{reaches, creditLoops, load}
	if p.Tables.MFT != nil {
		checks = append(checks, multicast)
	}
	var found []string
	worst := answer.OK
	for _, check := range checks {
		err := check(c, st, p)
		var wrong *feature.FoundError
		switch {
		case err == nil:
		case !errors.As(err, &wrong):
			return err
		default:
			found, worst = append(found, wrong.What), verdict.Worst(worst, wrong.Verdict)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &feature.FoundError{Verdict: worst, What: strings.Join(found, "; ")}
}

// basis returns the basis of a check.
func basis(st *session.State, p *session.Picture) answer.Basis {
	return st.Basis(p, session.NeedLinks|session.NeedTables)
}
