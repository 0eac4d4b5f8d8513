// SPDX-License-Identifier: Apache-2.0

package mad

import "context"

// attributeOf is a pointer to T that is an attribute.
type attributeOf[T any] interface {
	*T
	Attribute
}

// Get asks by directed route for the attribute that T is:
//
//	info, err := mad.Get[mad.PortInfo](ctx, client, path, port)
func Get[T any, P attributeOf[T]](ctx context.Context, c *Client, path Path, mod uint32) (T, error) {
	var a T
	err := c.ask(ctx, &Request{Method: MethodGet, Attr: P(&a).AttrID(), Mod: mod, Path: path}, P(&a))
	return a, err
}

// Set writes an attribute by directed route and returns what the node says it is after that.
func Set[T any, P attributeOf[T]](ctx context.Context, c *Client, path Path, mod uint32, a T) (T, error) {
	req := Request{Method: MethodSet, Attr: P(&a).AttrID(), Mod: mod, Path: path}
	b, err := P(&a).AppendBinary(nil)
	if err != nil {
		return a, req.failed(err)
	}
	copy(req.Data[:], b)
	err = c.ask(ctx, &req, P(&a))
	return a, err
}

// gsiAttributeOf is a pointer to T that is an attribute of a class other than subnet management.
type gsiAttributeOf[T any] interface {
	*T
	GSIAttribute
}

// PerfRequest is a request of performance management by LID and SL:
//
//	req := mad.PerfRequest(mad.MethodGet, lid, sl, &mad.PortCounters{PortSelect: port})
//
// The attribute says whose counters, and of a Set which are cleared.
func PerfRequest(m Method, lid uint16, sl uint8, a GSIAttribute) Request {
	req := Request{Class: ClassPerf, Method: m, Attr: a.AttrID(), LID: lid, SL: sl}
	var room [Size]byte
	b, _ := a.AppendBinary(room[:0]) // does not fail
	copy(req.Data[:], b)
	if len(b) > DataSize && m != MethodGet { // a Get says all it has to at the beginning
		req.GSI = new(GSI)
		copy(req.GSI.Body.Perf(), b)
	}
	return req
}

// Perf asks by a method, LID and SL for an attribute of performance management; a says whose counters, and of a
// Set, which returns what they were after that, which to clear:
//
//	counters, err := mad.Perf(ctx, client, mad.MethodGet, lid, sl, mad.PortCounters{PortSelect: port})
func Perf[T any, P gsiAttributeOf[T]](ctx context.Context, c *Client, m Method, lid uint16, sl uint8, a T) (T, error) {
	req := PerfRequest(m, lid, sl, P(&a))
	err := c.Ask(ctx, &req, func(r *Reply) error { return r.Decode(P(&a)) })
	return a, err
}

func (c *Client) ask(ctx context.Context, req *Request, a Attribute) error {
	data, err := c.Do(ctx, req)
	if err != nil {
		return err
	}
	return a.UnmarshalBinary(data[:])
}

// NodeInfo asks what the node at the end of path is.
func (c *Client) NodeInfo(ctx context.Context, path Path) (NodeInfo, error) {
	return Get[NodeInfo](ctx, c, path, 0)
}

// PortInfo asks the node at the end of path for one of its ports.
func (c *Client) PortInfo(ctx context.Context, path Path, port uint8) (PortInfo, error) {
	return Get[PortInfo](ctx, c, path, uint32(port))
}

// SMInfo asks the port at the end of path for its subnet manager.
func (c *Client) SMInfo(ctx context.Context, path Path) (SMInfo, error) {
	return Get[SMInfo](ctx, c, path, 0)
}
