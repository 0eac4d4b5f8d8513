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
	return o.connect(ctx, session.Options{Record: true}, func(ctx context.Context, s *session.Session) error {
		if err := s.Start(ctx); err != nil {
			return o.unless(ctx, err)
		}
		out := o.output()
		out.Script = true
		words := slices.Concat([]string{"record", "start"}, args, []string{"stay"})
		return o.unless(ctx, shell.New(s).Execute(ctx, "record", []lang.Statement{{Words: words}}, out))
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
