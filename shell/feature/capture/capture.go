// SPDX-License-Identifier: Apache-2.0

// Package capture writes the MADs of a session to a file.
package capture

import (
	"slices"

	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature is the command capture.
var Feature = feature.Feature{Name: "capture", Commands: []feature.Command{{
	Path: "capture", Group: feature.GroupRecord, Summary: "Write all MADs to a file for Wireshark",
	Help: "capture off ends the file. M_Keys and SA_Keys are written as 0.",
	Args: []lang.Arg{{Name: "FILE|off", Kind: lang.KindFile, Words: []string{feature.OffWord}, Written: true}},
	Examples: []string{
		"capture mads.pcap; sweep; capture off",
		"capture mads.pcap; trace live node-0001 node-0648; capture off",
	},
	Answers: []answer.Declared{begunDecl, endedDecl},
	Run:     run,
}}}

// captured is a capture that was ended.
type captured struct {
	File     string `key:"file" name:"file"`
	Sent     uint64 `key:"sent" name:"sent" unit:"MADs"`
	Received uint64 `key:"received" name:"received" unit:"MADs"`
	Lost     uint64 `key:"lost" name:"not written" unit:"MADs"`
}

// begun is a capture that was started.
type begun struct {
	File string `key:"file" name:"file"`
}

var (
	begunDecl = feature.OneLine[begun]("capture", "the file", "capturing to {file} (capture off ends it); keys are "+
		"written as 0")
	endedDecl = feature.OneLine[captured]("capture", "what was captured",
		"captured {sent} MADs sent and {received} received in {file}; {lost} not written")
)

func run(c *feature.Call) error {
	st := c.Session.State()
	if c.Arg(0) == feature.OffWord {
		path, stats, err := c.Session.Connection().StopCapture()
		if err != nil {
			return err
		}
		return c.Answer(endedDecl.Answer(st.SourceBasis(), captured{path, stats.Sent, stats.Received, stats.Lost}))
	}
	if c.Arg(0) == "-" {
		return c.Misused("a capture cannot go to standard output, which has the answers; name a file, or a pipe: " +
			"mkfifo FILE; wireshark -k -i FILE; capture FILE")
	}
	failed := func(err error) {
		c.Session.Publish(session.ChangeLive, func(st *session.State) {
			st.Warnings = append(slices.Clip(st.Warnings), "capture: "+err.Error())
		})
	}
	if err := c.Session.Connection().Capture(c.Arg(0), failed); err != nil {
		return err
	}
	return c.Answer(begunDecl.Answer(st.SourceBasis(), begun{c.Arg(0)}))
}
