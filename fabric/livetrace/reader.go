// SPDX-License-Identifier: Apache-2.0

package livetrace

import (
	"context"

	"example.org/ibconsole/mad"
)

// question is what is asked of a node; of NodeInfo the node before, the modifier the port that leads on.
type question struct {
	guid uint64
	attr mad.AttrID
	mod  uint32
}

// answer is what came, and who waits for it.
type answer struct {
	ended   bool
	data    [mad.DataSize]byte
	err     error
	waiting []func(*answer)
}

func (a *answer) decode(into mad.Attribute) error {
	if a.err != nil {
		return a.err
	}
	return into.UnmarshalBinary(a.data[:])
}

// reader asks every question once.
type reader struct {
	batch   *mad.Batch
	answers map[question]*answer
}

func newReader(ctx context.Context, client *mad.Client) *reader {
	return &reader{batch: client.NewBatch(ctx), answers: map[question]*answer{}}
}

// ask calls then with the answer, at once where it is there.
func (r *reader) ask(q question, path mad.Path, then func(*answer)) {
	a, ok := r.answers[q]
	if ok && a.ended {
		then(a)
		return
	}
	if ok {
		a.waiting = append(a.waiting, then)
		return
	}
	a = &answer{waiting: []func(*answer){then}}
	r.answers[q] = a
	req := mad.Request{Attr: q.attr, Mod: q.mod, Path: path}
	if q.attr == mad.AttrNodeInfo {
		req.Mod = 0
	}
	r.batch.Go(req, func(reply *mad.Reply) {
		a.ended, a.data, a.err = true, reply.Data, reply.Err
		for _, then := range a.waiting {
			then(a)
		}
		a.waiting = nil
	})
}
