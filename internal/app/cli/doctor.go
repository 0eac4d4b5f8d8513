// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/signals"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/doctor"
	"example.org/ibconsole/shell/session/source"
)

// doctor lists the usable sources of this machine, and the faults of unusable sources. With -s it checks the given
// source and its subnet.
func (o *options) doctor() int {
	if o.report != "" {
		return o.bugReport()
	}
	ctx, stop := signals.Context()
	defer stop()
	config, err := o.config(ctx)
	if err != nil {
		return o.misconfigured(err)
	}
	var findings []umad.Finding
	if len(o.sources) == 0 {
		src := source.Source{Kind: source.Umad}
		findings = append(o.machine(&config, src), doctor.Machine(ctx, src, o.rights.held)...)
	} else {
		sources, err := source.ParseAll(o.sources, config.Sets)
		if err != nil {
			return o.misused(err)
		}
		if findings, err = o.diagnose(ctx, &config, sources); err != nil {
			return o.failed(err)
		}
	}
	err = shell.Findings(o.output(), findings)
	if len(o.sources) == 0 && o.answerForm() != answer.FormJSON {
		o.others(&config)
	}
	if err != nil {
		return o.failed(&shell.CommandError{Command: "doctor", Err: err})
	}
	return exitDone
}

// diagnose checks sources and their subnets in parallel.
func (o *options) diagnose(ctx context.Context, config *config, sources []source.Named) (findings []umad.Finding,
	err error) {
	each := make([][]umad.Finding, len(sources))
	var wait sync.WaitGroup
	defer wait.Wait()
	for i, n := range sources {
		opt := session.Options{Fast: o.fast, Strict: o.strict, Held: o.rights.held}
		opt.Client.Window = o.window
		if opt.Keys, err = o.keys(ctx, n.Source, config.MKeys); err != nil {
			return nil, err
		}
		wait.Go(func() { each[i] = doctor.Diagnose(ctx, n.Source, opt) })
	}
	wait.Wait()
	for i, n := range sources {
		of := append(o.machine(config, n.Source), each[i]...)
		for j := range of {
			if len(sources) > 1 {
				of[j].Text = n.Name + ": " + of[j].Text
			}
		}
		findings = append(findings, of...)
	}
	return findings, nil
}

// The method others prints the kinds of sources that are not adapters, and the default source.
func (o *options) others(c *config) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(o.out, format+"\n", args...) }
	source, _ := c.from(o.rights.held)
	p("%-5s  ibsim: -s ibsim[:NAME] connects to an ibsim that runs with -s under that IBSIM_SOCKNAME", umad.Fine)
	p("%-5s  sim: always there: -s sim:FILE or -s sim:KIND:ARGS", umad.Fine)
	p("%-5s  file: always there: -s file:FILE, an ibnetdiscover or ibsim file or opensm-subnet.lst", umad.Fine)
	p("%-5s  ibdiagnet: always there: -s ibdiagnet:FOLDER, the output of ibdiagnet 2, a .tar.gz of it or its db_csv",
		umad.Fine)
	p("%-5s  net: always there: -s net:FILE, an ibnetdiscover or ibsim file by ibsim's rules", umad.Fine)
	p("default without -s: %s (doctor -s SOURCE checks a source)", fabric.Escape(source))
}

// machine returns findings about this user on this machine.
func (o *options) machine(c *config, src source.Source) []umad.Finding {
	return append(o.rights.findings(src), c.findings()...)
}

// findings lists the configured rules about writing, and whether they forbid writing to this user.
func (c *config) findings() []umad.Finding {
	var out []umad.Finding
	add := func(l umad.Level, text string) {
		out = append(out, umad.Finding{Level: l, Port: "config", Text: fabric.Escape(text)})
	}
	for _, r := range append(c.admins.Rules(), c.own.Rules()...) {
		add(umad.Fine, r)
	}
	if err := c.mayWrite(); err != nil {
		add(umad.Note, err.Error())
	}
	return out
}
