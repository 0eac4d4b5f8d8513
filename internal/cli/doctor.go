// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/signals"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
)

// doctor says which sources of a subnet there are on this machine, and what keeps those from being used that
// are not; with -s, of that source, what is missing there and in the subnet behind it.
func (o *options) doctor() int {
	ctx, stop := signals.Context()
	defer stop()
	var findings []umad.Finding
	if o.source == "" {
		findings = session.Machine(ctx, session.Source{Kind: session.SourceUmad})
	} else {
		src, err := session.ParseSource(o.source)
		if err != nil {
			return o.misused(err)
		}
		opt := session.Options{Fast: o.fast, Strict: o.strict}
		opt.Client.Window = o.window
		if opt.Keys, err = o.keys(ctx); err != nil {
			return o.failed(err)
		}
		findings = session.Diagnose(ctx, src, opt)
	}
	err := shell.Findings(o.output(), findings)
	if o.source == "" && !o.json {
		o.sources()
	}
	if err != nil {
		return o.failed(fmt.Errorf("doctor: %w", err))
	}
	return exitDone
}

// sources says what else there is than adapters.
func (o *options) sources() {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(o.out, format+"\n", args...) }
	source, _ := session.DefaultSource()
	p("%-5s  ibsim: -s ibsim[:NAME] talks to an ibsim that runs with -s under that IBSIM_SOCKNAME", umad.Fine)
	p("%-5s  sim: always there: -s sim:FILE or -s sim:KIND:ARGS", umad.Fine)
	p("%-5s  file: always there: -s file:FILE, an ibnetdiscover or ibsim file or opensm-subnet.lst; what it states is so", umad.Fine)
	p("%-5s  net: always there: -s net:FILE, an ibnetdiscover or ibsim file by ibsim's rules", umad.Fine)
	p("without -s: %s (doctor -s SOURCE looks at one)", fabric.Escape(source))
}
