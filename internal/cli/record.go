// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"example.org/ibconsole/internal/signals"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// record records until a signal comes, which is how it is to end.
func (o *options) record(args []string) int {
	ctx, stop := signals.Context()
	defer stop()
	return o.connect(ctx, session.Options{Record: true}, func(ctx context.Context, s *shell.Subnets) error {
		words := slices.Concat([]string{"record", "start"}, args, []string{"stay"})
		all := s.All()
		if len(all) == 1 {
			if err := all[0].Session().Start(ctx); err != nil {
				return o.unless(ctx, err)
			}
		} else {
			words = slices.Concat([]string{"on", session.AllSubnets}, words)
			for _, n := range all {
				n.Read(func() error { return n.Session().Start(ctx) })
			}
		}
		out := o.output()
		out.Script = true
		return o.unless(ctx, s.Execute(ctx, "record", []lang.Statement{{Words: words}}, out))
	})
}

// unless is an error unless it comes of a signal that asks for the end.
func (o *options) unless(ctx context.Context, err error) error {
	ended, ok := errors.AsType[*signals.Error](context.Cause(ctx))
	if ok && (ended.Signal == syscall.SIGTERM || ended.Signal == syscall.SIGINT) {
		return nil
	}
	return err
}
