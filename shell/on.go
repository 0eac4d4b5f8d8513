// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/source"
)

// onCommand is the name of the command that runs another command on a given subnet, or on all subnets.
const onCommand = "on"

// targetShell finds the shell on which the last command of a text acts, which may follow "on SUBNET". It returns the
// shell and the offset of the command.
func (sh *Shell) targetShell(text string) (of *Shell, from int) {
	from, words, ok := lang.Past(text, 2)
	if !ok || words[0] != onCommand {
		return sh, 0
	}
	if at, err := sh.among.Find(words[1]); err == nil {
		return sh.among.all[at].Shell, from
	}
	return sh, from
}

// bindOn binds "on SUBNET COMMAND".
func (sh *Shell) bindOn(stmt lang.Statement) (step, error) {
	name := stmt.Words[1]
	inner, err := sh.bind(stmt.Behind(2))
	if err != nil {
		return step{}, err
	}
	switch word, _, _ := strings.Cut(inner.Command, " "); {
	case inner.on != "":
		return step{}, &lang.UsageError{
			Command: onCommand, Reason: "a command takes one subnet: on NAME COMMAND or on all COMMAND",
		}
	case isGlobal(word):
		return step{}, &lang.UsageError{Command: onCommand, Reason: fmt.Sprintf("%s does not act on a subnet", word)}
	case name == source.AllSubnets && inner.file != "" && sh.among != nil && len(sh.among.all) > 1:
		return step{}, oneSubnet("all subnets would write the file "+lang.Quote(inner.file), stmt)
	case name == source.AllSubnets && writes(word):
		return step{}, oneSubnet(word+" is for one subnet", stmt)
	}
	out := step{Invocation: inner.Invocation, on: name}
	if name == source.AllSubnets {
		out.run = func(c *call) error { return c.shell.onAll(c.ctx, inner, c.out) }
		return out, nil
	}
	at, err := sh.among.Find(name)
	if err != nil {
		return step{}, &lang.UsageError{Command: onCommand, Reason: err.Error()}
	}
	out.run = func(c *call) error { return c.shell.among.all[at].perform(c.ctx, inner, c.out) }
	return out, nil
}

// oneSubnet returns the error for "on all" before a command that works only on one subnet.
func oneSubnet(why string, stmt lang.Statement) error {
	return &lang.UsageError{Command: onCommand, Reason: fmt.Sprintf("%s: %s NAME %s", why, onCommand,
		strings.Join(prose.Words(stmt.Behind(2).Words, lang.Quote), " "))}
}

// perform is like [Shell.perform], and adds the name of the subnet to answers and errors.
func (n *Subnet) perform(ctx context.Context, s step, out *Output) error {
	its := *out
	its.Subnet = n.name
	if err := n.Wait(ctx); err != nil {
		return &SubnetError{n.name, err}
	}
	err := n.Trouble()
	if err == nil || readsUnread(s.Command) {
		err = n.Shell.perform(ctx, s, &its)
	}
	if err != nil {
		return &SubnetError{n.name, err}
	}
	return nil
}

// readsUnread reports whether a command can run on a subnet that could not be read, because the command reads the
// subnet itself.
func readsUnread(command string) bool {
	word, _, _ := strings.Cut(command, " ")
	return word == "sweep" || word == "doctor" || word == "watch"
}

// SubnetError is the error of a command on a subnet, if several subnets are open.
type SubnetError struct {
	Subnet string
	Err    error
}

func (e *SubnetError) Error() string { return e.Subnet + ": " + e.Err.Error() }

func (e *SubnetError) Unwrap() error { return e.Err }

// subnetResult is the output of a command on a single subnet.
type subnetResult struct {
	answer, raw, notes bytes.Buffer
	err                error
	panicked           string
	done               chan struct{}
}

// onAll runs a command on all subnets in parallel. It writes the answers in the order of the subnets, each as soon as
// all earlier answers are complete. It returns an error if the command fails on any subnet.
func (sh *Shell) onAll(ctx context.Context, s step, out *Output) error {
	if sh.among == nil {
		return sh.perform(ctx, s, out)
	}
	var all []*subnetResult
	for _, n := range sh.among.all {
		a := &subnetResult{done: make(chan struct{})}
		all = append(all, a)
		its := Output{W: &a.answer, Raw: &a.raw, Notes: &a.notes, Form: out.Form, Table: out.Table, FailOn: out.FailOn,
			Script: out.Script, UnreadShown: out.UnreadShown, Answers: out.Answers}
		go func() {
			defer close(a.done)
			defer func() {
				if v := recover(); v != nil {
					a.panicked = fmt.Sprintf("%v\n\n%s", v, debug.Stack())
				}
			}()
			a.err = n.perform(ctx, s, &its)
		}()
	}
	var failed []error
	for i, n := range sh.among.all {
		a := all[i]
		<-a.done
		if a.panicked != "" {
			panic(a.panicked)
		}
		if err := out.pass(n.name, a); err != nil {
			failed = append(failed, err)
		}
		if a.err != nil {
			failed = append(failed, a.err)
		}
	}
	return joinSubnets(failed, len(all))
}

// pass writes the output of a command on one subnet, with the name of the subnet. It also writes the output of a
// command that failed after its answer.
func (o *Output) pass(name string, a *subnetResult) error {
	if o.Notes != nil {
		for line := range strings.Lines(a.notes.String()) {
			_, _ = fmt.Fprintf(o.Notes, "%s: %s", name, line)
		}
	}
	if !o.isJSON() && (a.err == nil || a.answer.Len()+a.raw.Len() > 0) {
		if _, err := fmt.Fprintf(o.W, "%s:\n", name); err != nil {
			return err
		}
	}
	o.writes()
	if _, err := a.answer.WriteTo(o.W); err != nil {
		return err
	}
	raw := o.Raw
	if raw == nil {
		raw = o.W
	}
	_, err := io.Copy(raw, &a.raw)
	return err
}

// joinSubnets joins errors, nil for none.
func joinSubnets(failed []error, all int) error {
	if len(failed) < 2 {
		return errors.Join(failed...)
	}
	return fmt.Errorf("the command failed on %d of %s: %w", len(failed), prose.Count(all, "subnet"),
		errors.Join(failed...))
}
