enable f16;
// run: workgroups=12,1,1
// buffer given: u32[96] random
// buffer result: u32[384]
// Functions that are too long to be inlined, one of which returns its argument and changes a variable: a compiler replaced
// the results of several calls by that of the first, and then left out the other calls. A reduced random kernel.
struct P { a: u32, b: vec3u, c: i32 }
struct Q { p: P, k: array<u32, 3>, f: bool }
struct R { f: f16, m: mat2x3f, v: vec2u, t: array<bool, 2> }
@group(0) @binding(0) var<storage, read> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
var<private> hidden: u32 = 7u;
fn work1(a0: array<bool, 6>, a1: u32, a2: Q, li: u32) -> vec2u {
  var m_8: array<u32, 5>;
  var m_9: vec4<bool>;
  let l_10: i32 = i32((m_8[li % 5u] + 7u));
  m_8 = m_8;
  m_8[(u32(a0[3]) % 5u)] ^= u32(m_9[li & 3u]);
  switch u32(l_10) & 3u {
    case 0u: {
      for (var k_11 = 0u; k_11 < 3u; k_11++) {
        let l_12: vec3h = vec3h(vec3u((u32(l_10) & 63u), 3u, ((u32(any(m_9)) % 7u) & 63u)));
        m_8[(u32(l_10) % 5u)] ^= ((u32(m_9.y) | li) % 13u);
      }
    }
    case 2u, 1u: {
      m_8[(u32(l_10) % 5u)] += (a2.k[li % 3u] * 13u);
      if ((u32(a0[li % 6u]) * u32(l_10)) < u32(any(m_9))) {
        m_8[(u32(a2.f) % 5u)] += select((a2.k[1] * 5u), (m_8[(li + 3u) % 5u] ^ li), (a2.p.a == a2.p.a));
        m_9 = m_9;
        var v_13: array<u32, 5> = array<u32, 5>((u32(l_10) - a1), a1, 1u, (m_8[li % 5u] & a1), 7u);
      }
    }
    default: {}
  }
  if (select(a1, li, (u32(l_10) != u32(a0[li % 6u]))) < (u32(l_10) - u32(l_10))) {
    let l_14: array<vec3u, 3> = array<vec3u, 3>(vec3u(m_8[2], u32(a0[3]), a2.k[li % 3u]), vec3u((u32(a2.f) | u32(l_10))), vec3u(1u, 2u, (m_8[2] ^ u32(l_10))));
    var v_15: P = P((u32(a0[li % 6u]) % 3u), vec3u(l_14[li % 3u][(li + 1u) % 3u], vec2u(li)), i32(u32(a0[3])));
  }
  var v_16: R = R(f16(((u32(a0[3]) >> 5u) & 63u)), mat2x3f(vec3f(vec3u((u32(any(m_9)) & 63u), 1u, (u32(any(m_9)) & 63u))), vec3f(f32((li & 63u)))), vec2u(a2.k[1], u32(a0[li % 6u])), array((a1 < m_8[2]), (m_8[2] == li)));
  m_9 = vec4<bool>((u32(a0[li % 6u]) > li), (u32(v_16.f) >= li), true, (li >= u32(v_16.f)));
  m_8[(li % 5u)] ^= (li | u32(l_10));
  switch (u32(l_10) + 31u) & 3u {
    case 0u: {
      var v_17: i32 = l_10;
    }
    case 2u, 1u: {
      for (var k_18 = 0u; k_18 < 2u; k_18++) {
        if (u32(l_10) < select(m_8[li % 5u], u32(m_9[li & 3u]), (u32(a0[li % 6u]) < u32(m_9.y)))) { continue; }
      }
      m_9[(u32(l_10) % 4u)] = (li > u32(v_16.t[li & 1u]));
    }
    default: {}
  }
  m_9 = vec4<bool>((u32(v_16.t[li & 1u]) == a1), (u32(v_16.f) != u32(a0[3])), true, (u32(a0[li % 6u]) < u32(any(m_9))));
  var v_19: vec3h = vec3h(vec3u((a2.k[1] & 63u), 3u, ((a2.p.b.y * u32(v_16.m[1].y)) & 63u)));
  for (var k_20 = 0u; k_20 < 2u; k_20++) {
    m_8[(u32(any(m_9)) % 5u)] += u32(l_10);
    var v_21: array<u32, 5> = array<u32, 5>(a2.k[li % 3u], u32(v_16.t[li & 1u]), 1u, (u32(a0[li % 6u]) & u32(v_16.t[li & 1u])), 7u);
  }
  switch a2.p.b.y & 3u {
    case 0u: {
      m_9 = vec4<bool>((u32(i32(v_19[li % 3u])) > u32(m_9[li & 3u])), (u32(v_16.m[1].y) != a2.k[1]), true, (m_8[2] < a2.k[1]));
    }
    case 2u, 1u: {
      if (a2.k[1] > u32(v_16.f)) {
        v_19 = vec3h(vec3u((m_8[li % 5u] & 63u), 3u, (u32(l_10) & 63u)));
        var v_22: i32 = l_10;
        v_16.t[(a2.k[1] % 2u)] = (u32(l_10) != u32(v_22));
      }
    }
    default: {}
  }
  var v_24: R;
  hidden = hidden * 3u + (a2.k[li % 3u] / 5u);
  return vec2u(a1, u32(any(m_9)));
}
fn work2(li: u32) -> u32 {
  var m_25: array<u32, 5>;
  var m_26: f16;
  m_25[(u32(i32(m_26)) % 5u)] += li;
  m_25[(m_25[2] % 5u)] = m_25[(li + 3u) % 5u];
  var v_27: u32 = li;
  switch v_27 & 3u {
    case 0u: {
      m_25[(li % 5u)] ^= m_25[(li + 3u) % 5u];
    }
    case 2u, 1u: {
      let l_28: f32 = f32((li >> 7u) & 4095u);
      v_27 += v_27;
    }
    default: {}
  }
  var v_29: vec3u = vec3u(li, vec2u(li, li));
  v_29.z ^= (v_27 | select(u32(i32(m_26)), li, (v_27 >= li)));
  let l_30: bool = (v_27 >= v_29[li % 3u]);
  switch (u32(i32(m_26)) >> 3u) & 3u {
    case 0u: {
      var v_31: vec4<bool> = vec4<bool>((dot(v_29, vec3u(3, 5, 7)) >= m_25[(li + 3u) % 5u]), (m_25[(li + 3u) % 5u] >= v_27), true, (v_27 > u32(i32(m_26))));
    }
    case 2u, 1u: {
      for (var k_32 = 0u; k_32 < (dot(v_29, vec3u(3, 5, 7)) & 3u); k_32++) {
        v_27 = select(u32(i32(m_26)), m_25[(li + 3u) % 5u], (m_25[li % 5u] < u32(i32(m_26))));
        m_25 = array<u32, 5>((m_25[(li + 3u) % 5u] * v_27), u32(i32(m_26)), 1u, (m_25[(li + 3u) % 5u] % 5u), 7u);
        let l_33: i32 = i32(select(u32(l_30), u32(i32(m_26)), (u32(l_30) != u32(i32(m_26)))));
      }
    }
    default: {}
  }
  var v_36: f32;
  let l_37: vec2u = work1(array<bool, 6>((u32(i32(v_36)) < li), true, (u32(i32(m_26)) >= v_29.z), (li != dot(v_29, vec3u(3, 5, 7))), false, (dot(v_29, vec3u(3, 5, 7)) > m_25[li % 5u])), v_27, Q(P(m_25[2], vec3u(dot(v_29, vec3u(3, 5, 7)), vec2u(v_29.x, u32(i32(v_36)))), i32(li)), array(m_25[(li + 3u) % 5u], m_25[li % 5u], u32(i32(m_26))), (v_27 != li)), li);
  switch (u32(i32(m_26)) / 3u) & 3u {
    case 0u: {
      v_36 = f32((u32(l_30) + m_25[(li + 3u) % 5u]) & 4095u);
    }
    case 2u, 1u: {
      switch (li + 13u) & 3u {
        case 0u: {
          v_27 = l_37.y;
        }
        case 2u, 1u: {
          let l_38: vec3u = v_29;
          m_26 = f16((dot(v_29, vec3u(3, 5, 7)) & 63u));
        }
        default: {}
      }
      let l_39: vec4i = vec4i(i32(select(u32(l_30), v_27, (m_25[2] >= li))), 3i, i32(u32(l_30)), -4i);
    }
    default: {}
  }
  v_29.z = l_37.y;
  if (v_27 > li) {
    for (var k_40 = 0u; k_40 < 2u; k_40++) {
      if (u32(i32(v_36)) != (m_25[2] * v_27)) { continue; }
      if ((v_29.x - v_29.x) > v_29.x) { break; }
    }
    var v_41: Q;
    let l_42: vec4i = vec4i(i32((u32(i32(m_26)) | li)));
  } else {
    let l_43: R = R(f16((l_37.y & 63u)), mat2x3f(vec3f(vec3u((dot(v_29, vec3u(3, 5, 7)) & 63u), 1u, (v_27 & 63u))), vec3f(f32((u32(l_30) & 63u)))), l_37, array((u32(i32(v_36)) != v_29.z), (u32(i32(v_36)) == l_37.y)));
    v_29 = v_29;
    v_27 = (u32(l_30) + m_25[(li + 3u) % 5u]);
  }
  v_27 *= l_37.y;
  let l_44: R = R(f16((v_29.x & 63u)), mat2x3f(vec3f(vec3u((l_37.x & 63u), 1u, (v_29.z & 63u))), vec3f(f32((l_37.x & 63u)))), vec2u(v_27), array((u32(l_30) == u32(i32(v_36))), (m_25[li % 5u] >= u32(i32(m_26)))));
  for (var k_45 = 0u; k_45 < 3u; k_45++) {
    v_36 = f32((u32(i32(v_36)) * v_27) & 4095u);
    let l_46: P = P(select(v_29[li % 3u], u32(l_30), (l_37.x < v_27)), vec3u(m_25[(li + 3u) % 5u], vec2u(m_25[2])), i32(v_29[li % 3u]));
  }
  hidden = hidden * 3u + select(u32(i32(m_26)), u32(i32(m_26)), (u32(i32(m_26)) != u32(i32(m_26))));
  return li;
}
fn work3(a0: array<vec3u, 3>, a1: mat2x3f, p0: ptr<function, array<vec3u, 3>>, p1: ptr<function, R>, li: u32) -> u32 {
  var m_47: array<u32, 5>;
  var m_48: u32;
  m_48 = (m_47[2] * 3u);
  if (select((*p0)[li % 3u].y, li, (m_47[li % 5u] < li)) != m_48) {
    let l_49: array<u32, 5> = array<u32, 5>(work2(li), work2(li), 1u, (*p0)[li % 3u].y, 7u);
    let l_50: vec4i = vec4i(i32(select(li, u32(i32(a1[0].y)), (a0[1].z == m_48))));
    m_48 ^= u32(dot(l_50, vec4i(3, 5, 7, 9)));
  }
  switch (*p0)[li % 3u][(li + 1u) % 3u] & 3u {
    case 0u: {
      let l_51: f32 = f32(li & 4095u);
    }
    case 2u, 1u: {
      (*p0)[(a0[li % 3u][(li + 1u) % 3u] % 3u)] = vec3u((*p0)[1].z, m_47[(li + 3u) % 5u], u32((*p1).m[1].y));
      var v_52: array<vec3u, 3> = array<vec3u, 3>(vec3u(li, vec2u(u32(i32(a1[li & 1u][li % 3u])), a0[li % 3u].y)), vec3u((*p0)[li % 3u][(li + 1u) % 3u]), vec3u(1u, 2u, ((*p0)[li % 3u][(li + 1u) % 3u] / 31u)));
    }
    default: {}
  }
  if (select(m_47[2], u32((*p1).m[1].y), (a0[li % 3u].y > u32(i32(a1[0].y)))) >= work2(li)) {
    (*p0)[((*p0)[li % 3u].y % 3u)][(u32(i32(a1[0].y)) % 3u)] ^= (*p0)[li % 3u][(li + 1u) % 3u];
    m_47 = array<u32, 5>((u32(i32(a1[1].z)) ^ 3u), (a0[li % 3u].y - u32(i32(a1[0].y))), 1u, select(u32(i32(a1[0].y)), u32(i32(a1[0].y)), (u32(i32(a1[0].y)) >= li)), 7u);
  } else {
    for (var k_53 = 0u; k_53 < (u32((*p1).f) & 3u); k_53++) {
      m_47[(u32(i32(a1[1].z)) % 5u)] = ((a0[li % 3u].y * 31u) ^ 3u);
      (*p0) = array<vec3u, 3>(vec3u(m_47[2], vec2u(m_47[li % 5u], u32(i32(a1[1].z)))), vec3u(u32(i32(a1[li & 1u][li % 3u]))), vec3u(1u, 2u, (m_48 + 5u)));
      m_47[(li % 5u)] = u32((*p1).t[li & 1u]);
    }
    let l_54: Q = Q(P(li, vec3u((*p0)[li % 3u][(li + 1u) % 3u], vec2u((*p0)[li % 3u][(li + 1u) % 3u])), i32(m_47[li % 5u])), array(work2(li), select(m_48, u32(i32(a1[li & 1u][li % 3u])), (m_47[(li + 3u) % 5u] < (*p0)[1].z)), m_47[li % 5u]), ((*p0)[1].z >= m_47[li % 5u]));
  }
    let l_56: bool = ((li / 5u) >= work2(li));
  m_48 = work2(li);
  let l_58: vec3u = vec3u(select((*p0)[li % 3u].y, li, (u32(i32(a1[1].z)) == m_48)), work2(li), work2(li));
  m_48 ^= select(work2(li), u32(a1[0].y), u32(a1[li & 1u][li % 3u]) < u32((*p1).f));
  m_47[li] *= work2(li) * work2(li);
  var v_60: i32 = 0i;
  for (var k_61 = 0u; k_61 < 2u; k_61++) {
    (*p1).m[li % 2u].y = f32(a0[1].z);
  }
  if work2(li) < u32((*p1).t[li & 1u]) % 31u {
  } else {
    let l_62: P = P(1u, vec3u(1u, 1u, 1u), 0i);
    if select(1u, m_48, (*p0)[li % 3u][(li + 1u) % 3u] >= m_48) >= m_47[2] {
    } else {
      m_47[li % 5u] *= dot(l_58, vec3u(3, 5, 7));
    }
  }
  return li + 1u;
}
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) lx: u32, @builtin(workgroup_id) id: vec3u) {
  let li = given[1u+ lx] >> 9u;
  var s = li; var arr = array<u32, 5>(s, 1u, 2u, li * 3u, 5u); var q: Q; var w = vec3u(li, 1u, s);
  var z_82: array<vec3u, 3>;
  var z_83: Q;
  if true {
  } else {
  }
  var z_85: array<vec3u, 3>;
  var z_86: R;
  s = s+ work3(z_82, mat2x3f(vec3f(0f), vec3f(0f)), &z_82, &z_86, li);
  var z_89: vec3u;
  var z_90: vec3u;
  result[id.x * 32u + lx] = li * 1u + s * 3u + arr[li % 5u] * 5u + q.p.a * 7u + w[li % 3u] * 9u + z_82[li % 3u][(li + 1u) % 3u] * 11u + z_83.p.b.y * 13u + z_85[li % 3u][(li + 1u) % 3u] * 15u + z_86.v.y * 17u + z_89.x * 19u + z_90[li % 3u] * 21u + hidden;
}