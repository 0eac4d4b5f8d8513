// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"example.org/ibconsole/internal/base/signals"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/shell/session/source"
)

// record records until a signal, which is its normal end.
func (o *options) record(args []string) int {
	ctx, stop := signals.Context()
	defer stop()
	return o.connect(ctx, session.Options{Record: true}, func(ctx context.Context, s *shell.Subnets) error {
		start := slices.Concat([]string{"record", "start"}, args)
		out := o.output()
		out.Script = true
		run := func(words []string) error { return s.Execute(ctx, "record", []lang.Statement{{Words: words}}, out) }
		all := s.All()
		if len(all) == 1 {
			err := all[0].Session().Start(ctx)
			if err == nil {
				err = run(append(start, "stay"))
			}
			return o.unlessStopped(ctx, err)
		}
		for _, n := range all {
			n.Read(func() error { return n.Session().Start(ctx) })
		}
		err := o.unlessStopped(ctx, run(slices.Concat([]string{"on", source.AllSubnets}, start)))
		recording := slices.ContainsFunc(all, func(n *shell.Subnet) bool {
			_, running := recording.StatusOf(n.Session())
			return running
		})
		if err != nil && recording { // other subnets are recorded
			o.failed(err)
			err = errNotAll
		}
		if !recording {
			return err
		}
		return errors.Join(err, o.unlessStopped(ctx, s.Stay(ctx, out)))
	})
}

// errNotAll is returned if at least one subnet was not recorded.
var errNotAll = errors.New("record: not all subnets were recorded")

// unlessStopped returns nil if SIGTERM or SIGINT ended the recording, otherwise err.
func (o *options) unlessStopped(ctx context.Context, err error) error {
	ended, ok := errors.AsType[*signals.Error](context.Cause(ctx))
	if ok && (ended.Signal == syscall.SIGTERM || ended.Signal == syscall.SIGINT) {
		return nil
	}
	return err
}
