// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/signals"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui"
)

// open opens the sessions and calls the function work. It reads several subnets in parallel with this function, so an
// unreadable subnet delays no other subnet.
func (o *options) open(interactive bool, work func(context.Context, *shell.Subnets) error) int {
	ctx, stop := signals.Context()
	defer stop()
	if !o.scripted {
		ctx = files.WithInput(ctx, o.in)
	}
	return o.connect(ctx, session.Options{Record: interactive}, func(ctx context.Context, s *shell.Subnets) error {
		all := s.All()
		if len(all) == 1 {
			n := all[0].Session()
			if err := n.Start(ctx); err != nil {
				return fmt.Errorf("%s: %w", n.State().Source.Kind, err)
			}
			o.notes(n, interactive)
			return work(ctx, s)
		}
		reading, stop := context.WithCancel(ctx)
		defer func() {
			stop()
			for _, n := range all {
				_ = n.Wait(context.WithoutCancel(ctx)) // stop has cancelled the reading
			}
		}()
		for _, n := range all {
			n.Read(func() error { return n.Session().Start(reading) })
		}
		return work(ctx, s)
	})
}

// notes reports an interrupted commit, unread parts of the subnet, and unanswered requests of the first sweep.
func (o *options) notes(s *session.Session, interactive bool) {
	st := s.State()
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(o.err, "ibconsole: "+format+"\n", args...) }
	if !interactive { // else the summary has it
		for _, text := range []string{st.Interrupted, st.Elsewhere} {
			if text != "" {
				p("%s", text)
			}
		}
		if lines := st.Unread.Lines(1); len(lines) > 0 {
			p("%s (problems lists all)", strings.Join(lines, "; "))
			o.unreadShown = true
		}
	}
	if n := len(st.Unanswered); n > 0 {
		p("the subnet was read with %s unanswered: %s (show unanswered)", prose.Count(n, "request"),
			prose.List(st.Unanswered, 1))
	}
}

// summary prints the summary of the subnet, or a list of several subnets.
func (o *options) summary(ctx context.Context, s *shell.Subnets) error {
	if all := s.All(); len(all) == 1 {
		return shell.Summary(ctx, all[0].Session(), o.output())
	}
	ctx, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	for _, n := range s.All() {
		_ = n.Wait(ctx) // else the list marks it as being read
	}
	return s.Run(context.WithoutCancel(ctx), "summary", "sources now", o.output())
}

// firstLook is the maximum time to wait for all subnets before the first list is printed.
const firstLook = 3 * time.Second

// connect opens the sessions and calls the function work. Sessions on live subnets always record in the history,
// whatever the argument opt requests.
func (o *options) connect(ctx context.Context, opt session.Options,
	work func(context.Context, *shell.Subnets) error) int {
	config, err := o.config(ctx)
	if err != nil {
		return o.misconfigured(err)
	}
	given := o.sources
	if len(given) == 0 {
		source, note := config.from(o.rights.held)
		if note != "" {
			_, _ = fmt.Fprintf(o.err, "ibconsole: %s\n", fabric.Escape(note))
		}
		given = []string{source}
	}
	sources, err := source.ParseAll(given, config.Sets)
	if err != nil {
		return o.misused(err)
	}
	opt.Strict, opt.MayWrite, opt.Names, opt.Hints = o.strict, config.mayWrite, config.Names, config.Hints
	if o.log != nil {
		opt.Log = o.log.Write
	}
	opt.Alerts, opt.Limits = config.Alerts, config.Limits
	opt.Held, opt.Places = o.rights.held, o.places
	if opt.Record { // interactive
		opt.Watch = config.Watch
	}
	opt.Later = opt.Later || len(sources) > 1
	if len(sources) == 1 {
		opt.First = o.first
	}
	opt.Client.Window, opt.Fast = o.window, o.fast
	opt.StateDir, opt.NoState = history.Dir()
	s, err := o.sessions(ctx, &config, sources, opt)
	if err != nil {
		return o.exitStatus(ctx, err)
	}
	save := func() []string { return rescued(s, opt.StateDir) }
	err = guarded(ctx, s, work, func() { o.print(save()) })
	var saved []string
	if _, crashed := errors.AsType[*tui.CrashError](err); crashed {
		saved = save()
	}
	if cerr := closed(s); err == nil {
		err = cerr
	}
	status := o.exitStatus(ctx, err)
	o.print(saved)
	return status
}

// sessions opens a session for each source.
func (o *options) sessions(ctx context.Context, config *config, sources []source.Named,
	opt session.Options) (*shell.Subnets, error) {
	var names []string
	var all []*session.Session
	fail := func(err error) (*shell.Subnets, error) {
		return nil, errors.Join(err, closed(shell.NewSubnets(names, all)))
	}
	for _, n := range sources {
		its := opt
		its.Machine, its.Record = o.machine(config, n.Source), opt.Record || n.Source.Live()
		var err error
		if its.Keys, err = o.keys(ctx, n.Source, config.MKeys); err != nil {
			return fail(err)
		}
		s, err := session.Open(ctx, n.Source, its)
		if err != nil {
			return fail(err)
		}
		names, all = append(names, n.Name), append(all, s)
	}
	return shell.NewSubnets(names, all), nil
}

// closed closes the sessions in parallel, so a session that hangs does not delay the others.
func closed(s *shell.Subnets) error {
	errs := make([]error, len(s.All()))
	var wait sync.WaitGroup
	for i, n := range s.All() {
		wait.Go(func() { errs[i] = n.Session().Close() })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// keys reads the M_Keys from the file of --mkeys. Without --mkeys, a live subnet uses the file of the configuration.
func (o *options) keys(ctx context.Context, src source.Source, configured string) (source.Keys, error) {
	file := o.mkeys
	if file == "" && src.Live() {
		file = configured
	}
	if file == "" {
		return source.Keys{}, nil
	}
	if file == o.rights.keyFile {
		return o.rights.keys, nil
	}
	keys, err := source.ReadKeys(ctx, file)
	if err != nil {
		return keys, fmt.Errorf("--mkeys: %w", err)
	}
	return keys, nil
}

// guarded calls the function work. After a panic it saves and closes the sessions before the panic continues.
func guarded(ctx context.Context, s *shell.Subnets, work func(context.Context, *shell.Subnets) error,
	save func()) error {
	panicked := true
	defer func() {
		if panicked {
			save()
			_ = closed(s)
		}
	}()
	err := work(ctx, s)
	panicked = false
	return err
}
