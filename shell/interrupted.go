// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.org/ibconsole/shell/session"
)

// InterruptedError says that a command was cancelled, and how far it was. It wraps
// what the command returned and what it was cancelled by.
type InterruptedError struct {
	Done, Total int // Done of Total steps were, or 0 of 0 where that is not known
	Left        int // how many commands after it were not run
	Err         error
	Cause       error
}

// Error returns for example "sweep: interrupted (1024 of 5013 done; 2 commands after it not run)".
func (e *InterruptedError) Error() string {
	var notes []string
	if e.Total > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d done", e.Done, e.Total))
	}
	if e.Left > 0 {
		notes = append(notes, count(e.Left, "command")+" after it not run")
	}
	text := strings.NewReplacer(context.Canceled.Error(), "interrupted", e.Cause.Error(), "interrupted").Replace(e.Err.Error())
	if len(notes) == 0 {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, strings.Join(notes, "; "))
}

// Interrupted marks the error as one that says by itself what happened.
func (*InterruptedError) Interrupted() {}

// Unwrap returns Err and Cause.
func (e *InterruptedError) Unwrap() []error { return []error{e.Err, e.Cause} }

// interrupted turns the error of a command that was cancelled into one that says
// so. left is how many commands after it were to be run.
func interrupted(ctx context.Context, st *session.State, left int, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, cause) {
		return err
	}
	e := &InterruptedError{Left: left, Err: err, Cause: cause}
	if st.Done < st.Total {
		e.Done, e.Total = st.Done, st.Total
	}
	return e
}
